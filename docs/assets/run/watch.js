// Replays a launch of what the reader ran: it runs once more, recorded, and the page's own stepper shows it.

import { make, reveal } from "./outlet.js";

const MOST_PROGRAMS = 64;
const MOST_EVENTS = 6000;

export const bounds = { most_programs: MOST_PROGRAMS, most_events: MOST_EVENTS };

// A program whose first step did not come about has nothing to show.
export function shown(recording) {
  const programs = recording?.programs.filter(({ events }) => events.length) ?? [];
  return programs.length ? { ...recording, programs } : undefined;
}

const words = ({ number, kernel, grid, line }) => `${number + 1}: ${kernel}, ${grid.join(" × ")} ${grid.reduce((a, b) => a * b, 1) === 1 ? "program" : "programs"}${line ? `, line ${line}` : ""}`;

export function replayer() {
  const choice = make("select", { attributes: { "aria-label": "Launch" } });
  const chooser = make("p", { className: "run-launches" }, make("label", {}, "Launch ", choice));
  const said = make("p", { className: "run-said", attributes: { role: "status" } });
  const figure = make("figure", { className: "stepper-figure" });
  const element = make("div", { className: "run-replay", hidden: true }, chooser, said, figure);
  let given;

  async function show(number) {
    const { request, outlet } = given;
    const since = performance.now();
    const result = await outlet.run("run", { ...request, ...bounds, record: true, launch: number }, { quiet: true });
    if (!result.done) return;
    const { launches, recording, recording_is_partial: partial, error } = result.done;
    const launch = launches.find((one) => one.number === number);
    const trace = shown(recording);
    figure.replaceChildren();
    said.textContent = !trace
      ? `This launch was not recorded${launch?.why_not ? `: ${launch.why_not}` : ""}.`
      : partial ? (error ? "Recorded up to the error." : launch?.why_not ?? "Only a part of this launch is recorded.") : "This launch, as it ran here just now.";
    if (!trace) return;
    await import("../stepper.js");
    const stepper = document.createElement("program-stepper");
    await stepper.replay(trace, Boolean(partial && error));
    figure.append(stepper);
    reveal(figure, { since });
    stepper.querySelector(".stepper")?.focus({ preventScroll: true });
  }

  choice.addEventListener("change", () => show(+choice.value));

  return {
    element,
    close() {
      element.hidden = true;
      figure.replaceChildren();
    },
    async open(request, launches, outlet) {
      given = { request, outlet };
      choice.replaceChildren(...launches.map((launch) => make("option", { value: launch.number, textContent: words(launch) })));
      chooser.hidden = launches.length < 2;
      element.hidden = false;
      await show(launches[0]?.number ?? 0);
    },
  };
}
