/**
 * Families of samples as the text that Prometheus scrapes: families by name, series by their labels, so that two
 * scrapes of equal servers are equal. Source: the text exposition format, version 0.0.4.
 */
import { compareBytes } from "../../../wire/go-strings.ts";
import { drained } from "../../../wire/steps.ts";
import type { Histogram } from "../../contract/histogram.ts";

export const expositionMediaType = "text/plain; version=0.0.4; charset=utf-8";

export type Labels = Readonly<Record<string, string>>;

export interface Family {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** The promise that the real server makes of this family. */
  readonly stability: "STABLE" | "BETA" | "ALPHA" | "";
  readonly help: string;
  /** Text of the labels without braces, and the value. */
  readonly samples: readonly (readonly [labels: string, value: number | Histogram])[];
}

/** Families without samples are left out, as the real server leaves them out. */
export const exposition = (families: readonly Family[]): string => drained(expositionPieces(families)).join("");

/** Of a piece: so many samples, of which a histogram has some thirty lines. */
const samplesPerPiece = 100;

/** The same in pieces; stops after each. A family is asked for its samples when it is its turn. */
export function* expositionPieces(families: readonly Family[]): Generator<void, readonly string[]> {
  const pieces: string[] = [];
  for (const family of families.toSorted((left, right) => compareBytes(left.name, right.name))) {
    const samples = family.samples.toSorted(([left], [right]) => compareBytes(left, right));
    if (samples.length === 0) continue;
    pieces.push(headOf(family));
    for (let at = 0; at < samples.length; at += samplesPerPiece) {
      const part = samples.slice(at, at + samplesPerPiece);
      pieces.push(part.map(([labels, value]) => sampleText(family.name, labels, value)).join(""));
      yield;
    }
  }
  return pieces;
}

function headOf({ name, type, stability, help }: Family): string {
  const promise = stability === "" ? "" : `[${stability}] `;
  return `# HELP ${name} ${promise}${help}\n# TYPE ${name} ${type}\n`;
}

function sampleText(name: string, labels: string, value: number | Histogram): string {
  if (typeof value === "number") return `${name}${braced(labels)} ${numberText(value)}\n`;
  return `${histogramText(name, labels, value).join("\n")}\n`;
}

function histogramText(name: string, labels: string, histogram: Histogram): readonly string[] {
  const comma = labels === "" ? "" : ",";
  const counts = histogram.cumulative();
  return [
    ...counts.map((count, at) => {
      const bound = histogram.bounds[at];
      return `${name}_bucket{${labels}${comma}le="${bound === undefined ? "+Inf" : numberText(bound)}"} ${count}`;
    }),
    `${name}_sum${braced(labels)} ${numberText(histogram.sum)}`,
    `${name}_count${braced(labels)} ${counts.at(-1)}`,
  ];
}

const braced = (labels: string): string => (labels === "" ? "" : `{${labels}}`);

/** As the real server's language writes a float: with a power of ten from a million on. */
function numberText(value: number): string {
  const [digits = "", power = ""] = value.toExponential().split("e");
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return String(value);
  return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

/** Labels by name, in the text's form. */
export function labelText(labels: Labels): string {
  return Object.keys(labels)
    .sort(compareBytes)
    .map((name) => `${name}="${escaped(labels[name] as string)}"`)
    .join(",");
}

const escaped = (value: string): string =>
  value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
