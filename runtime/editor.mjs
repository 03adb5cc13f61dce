// The editor of "Run it here": CodeMirror 6 with Python, as little of it as writing a kernel takes. esbuild makes one file of it.

import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

// The same colors as the listings of the pages.
const COLORS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], class: "k" },
  { tag: [tags.string, tags.special(tags.string)], class: "s" },
  { tag: [tags.number], class: "mi" },
  { tag: [tags.comment], class: "c1" },
  { tag: [tags.function(tags.definition(tags.variableName))], class: "nf" },
  { tag: [tags.bool, tags.null], class: "kc" },
]);

const mark = StateEffect.define(); // the numbers of the lines that an error names
const marked = StateField.define({
  create: () => Decoration.none,
  update(found, change) {
    for (const effect of change.effects)
      if (effect.is(mark)) {
        const lines = effect.value.filter((number) => number >= 1 && number <= change.state.doc.lines).sort((a, b) => a - b);
        found = Decoration.set([...new Set(lines)].map((number) => WRONG.range(change.state.doc.line(number).from)));
      }
    return change.docChanged ? Decoration.none : found;
  },
  provide: (field) => EditorView.decorations.from(field),
});
const WRONG = Decoration.line({ class: "run-wrong" });

// Tab indents, as in any editor of code. Escape, then Tab, leaves: so the keyboard is not caught here.
function tabs() {
  let leaving = false;
  const unlessLeaving = (act) => (view) => {
    if (!leaving) return act(view);
    leaving = false;
    return false;
  };
  return [
    keymap.of([
      { key: "Escape", run: () => ((leaving = true), false) },
      { key: "Tab", run: unlessLeaving((view) => (view.state.selection.main.empty ? insertIndent(view) : indentMore(view))), shift: unlessLeaving(indentLess) },
    ]),
    EditorView.domEventHandlers({
      keydown: ({ key }) => void (["Escape", "Tab", "Shift"].includes(key) || (leaving = false)),
      blur: () => void (leaving = false),
    }),
  ];
}

function insertIndent(view) {
  const { head } = view.state.selection.main;
  const column = head - view.state.doc.lineAt(head).from;
  view.dispatch(view.state.replaceSelection(" ".repeat(4 - (column % 4))));
  return true;
}

// Make an editor in `parent`. `run` is called on Ctrl+Enter, `changed` with every change.
export function edit({ parent, text, label, run, changed }) {
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        indentUnit.of("    "),
        EditorState.tabSize.of(4),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        python(),
        syntaxHighlighting(COLORS),
        marked,
        keymap.of([{ key: "Mod-Enter", preventDefault: true, run: () => (run(), true) }]),
        tabs(),
        keymap.of([...defaultKeymap, ...historyKeymap]),
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0", autocapitalize: "off", autocorrect: "off", spellcheck: "false" }),
        EditorView.updateListener.of((update) => update.docChanged && changed?.(update.state.doc.toString())),
      ],
    }),
  });
  return {
    view,
    get text() {
      return view.state.doc.toString();
    },
    set text(written) {
      if (written !== view.state.doc.toString()) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: written } });
    },
    focus: () => view.focus(),
    mark: (lines) => view.dispatch({ effects: mark.of(lines) }),
    // Put the cursor on a line and bring it to the top of the editor's own window; the page stays where it is.
    show(number) {
      const { from } = view.state.doc.line(Math.max(1, Math.min(number, view.state.doc.lines)));
      view.dispatch({ selection: { anchor: from } });
      view.requestMeasure({
        read: () => view.lineBlockAt(from).top,
        write: (top) => void (view.scrollDOM.scrollTop = top),
      });
    },
    destroy: () => view.destroy(),
  };
}
