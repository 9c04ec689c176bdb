/**
 * HTML that is escaped unless it says that it is HTML: what a server sent is shown, and never obeyed. Pure text, no
 * document object.
 */

/** Text that is markup already. Only `markup` makes it. */
export interface Markup {
  readonly markup: string;
}

export type MarkupValue = Markup | string | number | undefined | false | readonly MarkupValue[];

/** A tagged template: values are escaped, lists are joined, undefined and false vanish. */
export function markup(texts: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup {
  return { markup: texts.map((text, i) => (i === 0 ? text : written(values[i - 1]) + text)).join("") };
}

function written(value: MarkupValue): string {
  if (value === undefined || value === false) return "";
  if (typeof value === "string") return escaped(value);
  if (typeof value === "number") return String(value);
  return "markup" in value ? value.markup : value.map(written).join("");
}

/** For text and for quoted attributes alike. Characters that HTML cannot hold become U+FFFD. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, "\ufffd")
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
