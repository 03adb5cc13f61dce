// <blockwise-question>: a question with choices. Whoever chooses one learns at once whether it is right, and why. Nothing is kept.
// scripts/pages/questions.py writes the element: the question, the choices, and folded below them the answer, which is what a reader
// without scripts has. Which choice is right was printed by a program.

const letter = (number) => String.fromCharCode(65 + number);
let made = 0;

class Question extends HTMLElement {
  connectedCallback() {
    if (this.said) return;
    const id = `question-${++made}`;
    this.right = Number(this.dataset.right);
    this.answer = this.querySelector("details");
    this.whys = [...this.answer.querySelectorAll("li")];
    this.querySelector(".question-ask").id = id;
    this.setAttribute("role", "group");
    this.setAttribute("aria-labelledby", id);
    this.choices = [...this.querySelectorAll(".question-choices > li")].map((item, number) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(document.createElement("span"));
      button.firstChild.append(...item.childNodes);
      button.addEventListener("click", () => this.choose(number));
      item.append(button);
      return button;
    });
    this.answer.hidden = true;
    this.insertAdjacentHTML("beforeend", `<div class="question-said" role="status" aria-atomic="true"></div><button type="button" class="question-show" hidden>Show the answer</button>`);
    this.said = this.querySelector(".question-said");
    this.show = this.querySelector(".question-show");
    this.show.addEventListener("click", () => this.tell(this.right, `The answer is ${letter(this.right)}.`));
  }

  choose(number) {
    this.tell(number, number === this.right ? `${letter(number)} is right.` : `${letter(number)} is not the answer.`);
  }

  tell(number, verdict) {
    const isRight = number === this.right;
    this.choices.forEach((button, at) => button.setAttribute("aria-pressed", String(at === number)));
    this.mark(this.choices[number], isRight);
    const why = this.whys[number].cloneNode(true);
    if (isRight) why.firstElementChild.remove(); // "Right."
    this.said.innerHTML = `<p><strong>${verdict}</strong> ${why.innerHTML}</p>`;
    if (isRight && document.activeElement === this.show) this.choices[number].focus();
    this.show.hidden = isRight || this.isKnown;
  }

  mark(button, isRight) {
    if (isRight) this.isKnown = true;
    if (button.querySelector(".question-mark")) return;
    const [sign, word] = isRight ? ["✓", "right"] : ["✗", "wrong"];
    button.classList.add(word);
    button.insertAdjacentHTML("beforeend", `<span class="question-mark" role="img" aria-label="${word}">${sign}</span>`);
  }
}

if (!customElements.get("blockwise-question")) customElements.define("blockwise-question", Question);
