/** What is shown of objects in place of the objects, as a response body for this response alone: rows of a table, or metadata. */
import { encodeJson, jsonPieces, LazyItems, pause } from "../../../wire/go-strings.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { RowEffort } from "../../kinds/shared/printer.ts";
import { isLongerThan } from "../../objects/text-length.ts";
import { isLargeObject } from "../../objects/value-limit.ts";
import { compactJson, type Encode, prettyJson, yaml } from "./encode.ts";
import { concatenated, utf8 } from "./encodings.ts";
import { yamlSlices } from "./list-payload.ts";
import { LazyPayload } from "./payload.ts";
import { yamlPieces } from "./yaml.ts";

/** Objects are shared and frozen; what is shown of one is made when it is written. */
export interface ShownInParts {
  /** What stands before the field. */
  readonly head: JsonObject;
  readonly field: "rows" | "items";
  readonly objects: readonly JsonObject[];
  readonly shown: (object: JsonObject, effort?: RowEffort) => JsonObject;
  /** Without objects there is no empty list but null. */
  readonly isNullWhenEmpty?: boolean;
}

export const isInParts = (shown: JsonObject | ShownInParts): shown is ShownInParts =>
  typeof (shown as Partial<ShownInParts>).shown === "function";

/** In one step: of objects, of what they have cost beside, and of characters that are written. */
const objectsPerStep = 200;
const effortPerStep = 20_000;
const charactersPerStep = 256 * 1024;

/** What has more, in characters or in what it has cost, is written piece by piece. */
const longMin = 64 * 1024;
const longEffortMin = 8_000;

export class ShownPayload extends LazyPayload {
  private readonly parts: ShownInParts;
  private readonly encode: Encode;
  private whole: JsonObject | undefined;

  constructor(parts: ShownInParts, contentType: string, encode: Encode) {
    super(contentType);
    this.parts = parts;
    this.encode = encode;
  }

  get object(): JsonObject {
    const { head, field, objects, shown, isNullWhenEmpty = false } = this.parts;
    const isNull = isNullWhenEmpty && objects.length === 0;
    this.whole ??= { ...head, [field]: isNull ? null : objects.map((object) => shown(object)) };
    return this.whole;
  }

  *slices(): Generator<Uint8Array> {
    const { head, field, objects, shown } = this.parts;
    if (objects.length === 0) yield this.encode(this.object);
    else if (this.encode === prettyJson) yield* prettyJson.slices(this.lazyWhole());
    else if (this.encode === compactJson) yield* this.jsonSlices();
    else if (this.encode === yaml) yield* yamlSlices(head, field, this.yamlItems());
    else if (this.encode.list !== undefined && field === "items")
      yield* this.encode.list(
        head,
        objects.map((object) => shown(object)),
      );
    else yield this.encode(this.object);
  }

  private lazyWhole(): Readonly<Record<string, unknown>> {
    const { head, field } = this.parts;
    return { ...head, [field]: new LazyItems(this.items()) };
  }

  /** A pause follows what has cost much. */
  private *items(): Generator<unknown> {
    const effort = { steps: 0 };
    for (const object of this.parts.objects) {
      yield this.parts.shown(object, effort);
      if (effort.steps < effortPerStep) continue;
      effort.steps = 0;
      yield pause;
    }
  }

  private *jsonSlices(): Generator<Uint8Array> {
    const { head, field } = this.parts;
    if (isLongerThan(head, longMin)) {
      yield* compactJson.slices(this.lazyWhole());
      return;
    }
    yield utf8(`${encodeJson(head).slice(0, -1)},${JSON.stringify(field)}:[`);
    yield* this.written(writeJson);
    yield listEnd;
  }

  private yamlItems(): Generator<Uint8Array> {
    return this.written(writeYaml);
  }

  /** As many together as one step may hold. */
  private *written(write: Write): Generator<Uint8Array> {
    const effort = { steps: 0 };
    let text = "";
    let count = 0;
    for (const [index, object] of this.parts.objects.entries()) {
      const before = effort.steps;
      const shown = this.parts.shown(object, effort);
      const isLong = isLargeObject(object) || effort.steps - before >= longEffortMin;
      for (const piece of write(shown, index === 0, isLong)) {
        text += piece;
        if (text.length < charactersPerStep && !(isLong && text.length >= longMin)) continue;
        yield utf8(text);
        text = "";
      }
      if (++count < objectsPerStep && effort.steps < effortPerStep) continue;
      yield utf8(text);
      [text, count, effort.steps] = ["", 0, 0];
    }
    if (text !== "") yield utf8(text);
  }

  protected make(): Uint8Array {
    return concatenated([...this.slices()]);
  }
}

/** What stands for one object, in pieces. */
type Write = (shown: JsonObject, isFirst: boolean, isLong: boolean) => Iterable<string>;

const writeJson: Write = (shown, isFirst, isLong) => {
  if (isLong) return isFirst ? jsonPieces(shown, false) : withComma(jsonPieces(shown, false));
  return [isFirst ? encodeJson(shown) : `,${encodeJson(shown)}`];
};

function* withComma(pieces: Iterable<string>): Generator<string> {
  yield ",";
  yield* pieces;
}

const writeYaml: Write = (shown) => yamlPieces([shown]);

const listEnd = utf8("]}\n");
