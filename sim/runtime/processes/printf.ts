/** `printf FORMAT ARGUMENT…`: the format again and again until the arguments are used up. */

export function printfText(
  format: string,
  values: readonly string[],
): { readonly text: string; readonly error?: string } {
  const state: State = { values, at: 0, text: "", ended: false };
  do {
    const before = state.at;
    once(format, state);
    if (state.at === before) break;
  } while (state.at < values.length && !state.ended && state.text.length < OUTPUT_MAX);
  return { text: state.text, ...(state.error === undefined ? {} : { error: state.error }) };
}

interface State {
  readonly values: readonly string[];
  at: number;
  text: string;
  ended: boolean;
  error?: string;
}

const OUTPUT_MAX = 1 << 20;
const WIDTH_MAX = 4096;

function once(format: string, state: State): void {
  const pattern = /\\(0?[0-7]{1,3}|[abcfnrtv\\"'])|%([-+ 0#]*)(\*|\d*)(?:\.(\d*))?([%csdiouxXbqfeg])|[^\\%]+|[^]/g;
  for (const match of format.matchAll(pattern)) {
    if (state.ended) return;
    const [all, escape, flags, width, precision, conversion] = match;
    if (escape !== undefined) state.text += escapeText(escape, state);
    else if (conversion !== undefined) state.text += convert(state, flags ?? "", width ?? "", precision, conversion);
    else state.text += all;
  }
}

function escapeText(code: string, state: State): string {
  if (code === "c") {
    state.ended = true;
    return "";
  }
  if (/^[0-7]/.test(code)) return String.fromCharCode(Number.parseInt(code, 8) & 255);
  return { a: "\u0007", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" }[code] ?? code;
}

function convert(
  state: State,
  flags: string,
  width: string,
  precision: string | undefined,
  conversion: string,
): string {
  if (conversion === "%") return "%";
  const size = Math.min(WIDTH_MAX, width === "*" ? Math.abs(numberOf(state)) : Number(width));
  const text = converted(state, conversion, precision, flags);
  if (flags.includes("-")) return text.padEnd(size);
  const isNumber = !"csb".includes(conversion);
  if (!isNumber || !flags.includes("0")) return text.padStart(size);
  const sign = /^[-+]/.exec(text)?.[0] ?? "";
  return sign + text.slice(sign.length).padStart(size - sign.length, "0");
}

function converted(state: State, conversion: string, precision: string | undefined, flags: string): string {
  const cut = (text: string): string => (precision === undefined ? text : text.slice(0, Number(precision)));
  switch (conversion) {
    case "s":
      return cut(next(state));
    case "b":
      return cut(
        next(state).replace(/\\(0?[0-7]{1,3}|[abcfnrtv\\])/g, (_all, code: string) => escapeText(code, state)),
      );
    case "c":
      return next(state).slice(0, 1);
    case "d":
    case "i": {
      const value = numberOf(state);
      return value >= 0 && flags.includes("+") ? `+${value}` : String(value);
    }
    case "u":
      return String(unsigned(numberOf(state)));
    case "o":
      return unsigned(numberOf(state)).toString(8);
    case "x":
      return unsigned(numberOf(state)).toString(16);
    case "X":
      return unsigned(numberOf(state)).toString(16).toUpperCase();
    default:
      state.error ??= `%${conversion}: invalid directive`;
      return "";
  }
}

const unsigned = (value: number): bigint => BigInt.asUintN(64, BigInt(value));

function next(state: State): string {
  return state.values[state.at++] ?? "";
}

function numberOf(state: State): number {
  const text = next(state);
  if (text === "") return 0;
  if (/^["']/.test(text)) return text.charCodeAt(1) || 0;
  const match = /^\s*([-+]?)(0[xX][0-9a-fA-F]{1,13}|0[0-7]*|[1-9]\d{0,15})/.exec(text);
  if (match === null || match[0].length !== text.length) {
    state.error ??= `${text}: expected numeric value`;
    if (match === null) return 0;
  }
  const digits = match[2] as string;
  const value = /^0[0-7]/.test(digits) ? Number.parseInt(digits, 8) : Number(digits);
  return match[1] === "-" && value !== 0 ? -value : value;
}
