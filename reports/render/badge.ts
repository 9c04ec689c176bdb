/** A badge of the verdict: as an SVG of its own, and as the JSON that shields.io's endpoint badge reads. */
import { gateOf } from "../gate/gate.ts";
import type { SuiteReport } from "../schema/suite-report.ts";

interface Badge {
  readonly label: string;
  readonly message: string;
  readonly color: string;
}

const colors = { passed: "2f8a4a", failed: "c0392b", inconclusive: "9a7d0a", error: "7d3c98" } as const;

function badgeOf(report: SuiteReport): Badge {
  const { failed } = report.totals.requirements;
  const gate = gateOf(report);
  const unproven = gate === "inconclusive" ? "inconclusive" : report.conclusion;
  const known = failed > 0 && gate === "passed" ? ` (${failed} known)` : failed > 0 ? ` (${failed} failed)` : "";
  const part = report.partial ? ", in part" : "";
  return { label: `${report.profile} API`, message: `${unproven}${known}${part}`, color: colors[gate] };
}

/** Source: shields.io, endpoint badge, schemaVersion 1. */
export function renderBadgeJson(report: SuiteReport): string {
  const { label, message, color } = badgeOf(report);
  return `${JSON.stringify({ schemaVersion: 1, label, message, color }, undefined, 2)}\n`;
}

const height = 20;
const padding = 7;

export function renderBadgeSvg(report: SuiteReport): string {
  const { label, message, color } = badgeOf(report);
  const left = widthOf(label) + 2 * padding;
  const right = widthOf(message) + 2 * padding;
  const said = escaped(`${label}: ${message}`);
  // The length is given, so that another font of the reader's does not burst the frame.
  const text = (what: string, x: number): string =>
    `<text x="${x + padding}" y="14" textLength="${widthOf(what)}">${escaped(what)}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="${height}" role="img" aria-label="${said}">`,
    `<title>${said}</title>`,
    `<clipPath id="r"><rect width="${left + right}" height="${height}" rx="3"/></clipPath>`,
    `<g clip-path="url(#r)"><rect width="${left}" height="${height}" fill="#444"/><rect x="${left}" width="${right}" height="${height}" fill="#${color}"/></g>`,
    `<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${text(label, 0)}${text(message, left)}</g>`,
    "</svg>",
    "",
  ].join("\n");
}

/** Of Verdana at 11 pixels, nearly: a table of three classes of letters is good enough for a frame. */
function widthOf(text: string): number {
  const widths = [...text].map((letter) => (/[ijlft.,:()|I ]/.test(letter) ? 4.3 : /[mwMW@]/.test(letter) ? 10 : 7));
  return Math.round(widths.reduce((sum, width) => sum + width, 0));
}

const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
