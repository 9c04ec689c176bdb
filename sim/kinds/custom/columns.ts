/**
 * The columns of a custom resource's table: its name, then what its definition asks for, else its age.
 * Source: recorded tables; the published convertor.
 * Simplification: the real server shows whatever it is asked for, were it the whole object a thousand times.
 */
import { encodeJson } from "../../../wire/go-strings.ts";
import { parseTime } from "../../../wire/time.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { isObject } from "../../contract/objects.ts";
import { isLongerThan } from "../../objects/text-length.ts";
import {
  ageColumn,
  type Column as TableColumn,
  type FilledColumn,
  nameColumn,
  type Printer,
  printer,
  since,
} from "../shared/printer.ts";
import type { Column } from "./definition.ts";
import { firstAt, type JsonPath, parseJsonPath } from "./json-path.ts";

/** For definitions without columns, where the profile gives those columns of their own. */
export const agePrinter: Printer = printer(nameColumn, { ...ageColumn, type: "date" });

/** What the columns of one row may look at: values on their paths, and for texts that are made of values one for some characters. */
export const rowStepsMax = 200_000;
/** Of all texts in one row. */
export const rowCharactersMax = 250_000;

const charactersPerStep = 8;

/** Stands for a text that is not shown, where the row has no room for it or the columns before it have looked at too much. */
const tooLong = "<too long>";

/** What a column shows: columns of the same path and type show the same. */
interface Shown {
  readonly path: JsonPath | undefined;
  readonly type: string;
}

export function customPrinter(columns: readonly Column[]): Printer {
  if (columns.length === 0) return agePrinter;
  const shown = new Map<string, number>();
  const kinds: Shown[] = [];
  const kindOfColumn = columns.map(({ type, jsonPath }) => {
    const key = `${type} ${jsonPath}`;
    const known = shown.get(key);
    if (known !== undefined) return known;
    shown.set(key, kinds.length);
    return kinds.push({ path: parseJsonPath(jsonPath), type }) - 1;
  });
  const { cell: nameOf, ...name } = nameColumn as FilledColumn;
  return {
    columns: [name, ...columns.map(headOf)],
    row(object, nowSeconds, effort) {
      const row = new RowInMaking(object, nowSeconds, kinds);
      const cells = [nameOf(object, nowSeconds)];
      for (const kind of kindOfColumn) cells.push(row.cell(kind));
      if (effort !== undefined) effort.steps += row.stepCount;
      return { cells };
    },
  };
}

const headOf = ({ name, type, format, description, priority }: Column): TableColumn =>
  ({ name, type, format, description, priority }) as TableColumn;

class RowInMaking {
  private readonly object: JsonObject;
  private readonly nowSeconds: number;
  private readonly kinds: readonly Shown[];
  private readonly known: (Json | undefined)[] = [];
  private readonly left = { steps: rowStepsMax };
  private characters = rowCharactersMax;
  /** Of values that are none: columns of several paths may lead to the same. */
  private readonly texts = new Map<Json, string>();

  constructor(object: JsonObject, nowSeconds: number, kinds: readonly Shown[]) {
    this.object = object;
    this.nowSeconds = nowSeconds;
    this.kinds = kinds;
  }

  /** With one for some characters of its texts, which are written next. */
  get stepCount(): number {
    return rowStepsMax - this.left.steps + (rowCharactersMax - this.characters) / charactersPerStep;
  }

  cell(kind: number): Json {
    let shown = this.known[kind];
    if (shown === undefined) this.known[kind] = shown = this.made(this.kinds[kind] as Shown);
    if (typeof shown !== "string") return shown;
    if (shown.length > this.characters) return tooLong;
    this.characters -= shown.length;
    return shown;
  }

  private made({ path, type }: Shown): Json {
    const { left } = this;
    const value = path === undefined || left.steps < 0 ? undefined : firstAt(path, this.object, left);
    if (left.steps < 0) return hasTexts(type) ? tooLong : null;
    return value === undefined ? null : this.cellOf(value, type);
  }

  /** The value as far as it is of the column's type. */
  private cellOf(value: Json, type: string): Json {
    switch (type) {
      case "string":
        return this.textOf(value);
      case "integer":
        return isWide(value) ? value : typeof value === "number" ? Math.trunc(value) : null;
      case "number":
        return isWide(value) || typeof value === "number" ? value : null;
      case "boolean":
        return typeof value === "boolean" ? value : null;
      default:
        return typeof value === "string" ? this.dateOf(value) : null;
    }
  }

  /** How long ago; nobody promises that the text is a time. */
  private dateOf(text: string): string {
    this.left.steps -= text.length / charactersPerStep;
    return text === "" || "seconds" in parseTime(text) ? since(text, this.nowSeconds) : "<invalid>";
  }

  private textOf(value: Json): string {
    if (typeof value === "string") return value;
    if (!isObject(value) && !Array.isArray(value)) return String(value);
    const known = this.texts.get(value);
    if (known !== undefined) return known;
    const text = this.isTooLong(value) ? tooLong : encodeJson(value);
    this.left.steps -= text.length / charactersPerStep;
    this.texts.set(value, text);
    return text;
  }

  /** Found without making the text. */
  private isTooLong(value: Json): boolean {
    return isLongerThan(value, this.characters, this.left);
  }
}

/** Columns that show texts. */
const hasTexts = (type: string): boolean => type !== "integer" && type !== "number" && type !== "boolean";

/** A whole number beyond 2^53. */
const isWide = (value: Json): boolean => typeof (value as unknown) === "bigint";
