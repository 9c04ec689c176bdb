/** How commands talk to a person: colours and a progress line, both only on a terminal. */
import { styleText } from "node:util";
import type { Paint, Tone } from "../../reports/render/text.ts";

type Format = Parameters<typeof styleText>[0];

const formats: Readonly<Record<Tone, Format>> = {
  bad: ["bold", "red"],
  good: ["bold", "green"],
  doubtful: "yellow",
  quiet: "dim",
  strong: "bold",
};

/** Colours that hold only when `stream` is a terminal and NO_COLOR and its kin do not forbid them. */
export function painter(stream: NodeJS.WriteStream): Paint {
  return (tone, text) => styleText(formats[tone], text, { stream, validateStream: true });
}

/** One line on stderr that is rewritten while work goes on. Silent for the first second, and off a terminal. */
export interface ProgressLine {
  show(text: string): void;
  /** Takes the line away, so that what is printed next stands alone. */
  clear(): void;
}

const quietMillis = 1000;
const redrawMillis = 100;

export function progressLine(stream: NodeJS.WriteStream = process.stderr): ProgressLine {
  if (!stream.isTTY) return { show: () => {}, clear: () => {} };
  const startedMillis = performance.now();
  let drawnMillis = -Infinity;
  return {
    show(text) {
      const nowMillis = performance.now();
      if (nowMillis - startedMillis < quietMillis || nowMillis - drawnMillis < redrawMillis) return;
      drawnMillis = nowMillis;
      stream.write(`\r\x1b[K${text.slice(0, (stream.columns || 80) - 1)}`);
    },
    clear() {
      if (drawnMillis !== -Infinity) stream.write("\r\x1b[K");
      drawnMillis = -Infinity;
    },
  };
}
