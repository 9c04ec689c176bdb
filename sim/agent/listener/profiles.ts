/**
 * `/debug/pprof/`: what an agent tells of its own program.
 * Source: document 3, --contention-profiling; the facts, HTTP.
 */
import type { Responder } from "../../contract/http-message.ts";
import { answerText } from "./answers.ts";

/** What there is to read of the program. */
export interface ProgramProfiles {
  /** By the profile's name: a text. */
  readonly texts: Readonly<Record<string, () => string>>;
  /** `enableProfilingHandler` of the file. */
  readonly isOn: boolean;
}

export function answerProfile({ texts, isOn }: ProgramProfiles, name: string, responder: Responder): void {
  if (!isOn) answerText(responder, 405, "profiling endpoint is disabled.\n");
  else if (name === "") {
    const links = Object.keys(texts).map((each) => `<a href="${each}?debug=1">${each}</a>\n`);
    answerText(
      responder,
      200,
      `<html>\n<head><title>/debug/pprof/</title></head>\n<body>\n<pre>\n${links.join("")}</pre>\n</body>\n</html>\n`,
      "text/html; charset=utf-8",
    );
  } else {
    const text = Object.hasOwn(texts, name) ? texts[name]?.() : undefined;
    if (text === undefined) answerText(responder, 404, "Unknown profile\n");
    else answerText(responder, 200, text);
  }
}
