/** Bodies of the calls of a container runtime that nobody means: each at what a call may bring, by the tables of the interface. */
import { type CriField, criMessages } from "../../wire/cri.ts";

const bodyBytes = 4_100_000;

/** From a message's own field down to the last one. */
type Path = readonly CriField[];

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return [...bytes, rest];
}

const tag = (number: number, wireType: number): number[] => varint(number * 8 + wireType);

const part = (number: number, bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([...tag(number, 2), ...varint(bytes.length)]), bytes]);

/** `bytes` as the content of the message that the path leads to. */
const within = (path: Path, bytes: Uint8Array): Buffer =>
  path.reduceRight((inner: Uint8Array, { number }) => part(number, inner), bytes) as Buffer;

/** The paths to the fields of a request that `chooses` wants, the shallow ones first. */
function pathsTo(message: string, chooses: (field: CriField) => boolean): readonly Path[] {
  const found: Path[] = [];
  let level: readonly Path[] = [[]];
  let names: readonly string[] = [message];
  for (let depth = 0; depth < 6 && level.length > 0; depth++) {
    const next: [Path, string][] = [];
    level.forEach((path, at) => {
      for (const field of criMessages.get(names[at] as string) ?? []) {
        if (chooses(field)) found.push([...path, field]);
        if (field.shape.is === "message") next.push([[...path, field], field.shape.name]);
      }
    });
    level = next.map(([path]) => path);
    names = next.map(([, name]) => name);
  }
  return found;
}

const isText = ({ shape, many }: CriField): boolean =>
  many === "no" && shape.is === "scalar" && (shape.type === "string" || shape.type === "bytes");
const isList = ({ many }: CriField): boolean => many === "list";
const isMap = ({ many }: CriField): boolean => many === "map";
const isNumber = ({ shape, many }: CriField): boolean =>
  many === "no" && shape.is === "scalar" && /int/.test(shape.type);
const isMessage = ({ shape, many }: CriField): boolean => many === "no" && shape.is === "message";

/** The content of the field at the end of a path, in the message before it. */
const last = (path: Path): CriField => path.at(-1) as CriField;
const filled = (path: Path | undefined, content: (field: CriField) => Uint8Array): Buffer | undefined =>
  path === undefined ? undefined : within(path.slice(0, -1), content(last(path)));

const repeated = (bytes: readonly number[], length = bodyBytes): Buffer =>
  Buffer.alloc(length - (length % bytes.length), Buffer.from(bytes));

function entries(field: CriField, key: (at: number) => string): Buffer {
  const parts: Buffer[] = [];
  for (let bytes = 0, at = 0; bytes < bodyBytes; at++) {
    const text = Buffer.from(key(at));
    const entry = part(field.number, Buffer.concat([part(1, text), part(2, Buffer.alloc(0))]));
    bytes += entry.length;
    parts.push(entry);
  }
  return Buffer.concat(parts);
}

/** By name: the bytes of a request of this message type; undefined where it has no such field. */
export const criShapes: Readonly<Record<string, (message: string) => Uint8Array | undefined>> = {
  empty: () => Buffer.alloc(0),
  text: (message) => filled(pathsTo(message, isText)[0], ({ number }) => part(number, repeated([0x76]))),
  "deep-text": (message) => filled(pathsTo(message, isText).at(-1), ({ number }) => part(number, repeated([0x76]))),
  "text-of-no-encoding": (message) =>
    filled(pathsTo(message, isText)[0], ({ number }) => part(number, repeated([0xff]))),
  list: (message) => filled(pathsTo(message, isList)[0], ({ number }) => repeated([...tag(number, 2), 0])),
  "deep-list": (message) => filled(pathsTo(message, isList).at(-1), ({ number }) => repeated([...tag(number, 2), 0])),
  map: (message) => filled(pathsTo(message, isMap)[0], (field) => entries(field, (at) => `k${at}`)),
  "map-of-one-key": (message) => filled(pathsTo(message, isMap)[0], (field) => entries(field, () => "__proto__")),
  "part-again": (message) => filled(pathsTo(message, isMessage)[0], ({ number }) => repeated([...tag(number, 2), 0])),
  numbers: (message) => {
    const all = pathsTo(message, isNumber);
    if (all.length === 0) return undefined;
    return Buffer.concat(
      all.map((path) =>
        within(path.slice(0, -1), Buffer.from([...tag(last(path).number, 0), ...Array(9).fill(0xff), 1])),
      ),
    );
  },
  "unknown-fields": () => repeated([...tag(1_000, 0), 0]),
  "unknown-groups": () => repeated(tag(1_000, 3)),
  "unknown-groups-that-end": () => repeated([...tag(1_000, 3), ...tag(1_000, 4)]),
  "nested-groups": () => Buffer.concat([repeated(tag(1_000, 3), 2_000_000), repeated(tag(1_000, 4), 2_000_000)]),
  "length-beyond": (message) =>
    filled(pathsTo(message, isText)[0], ({ number }) => Buffer.from([...tag(number, 2), 0xff, 0xff, 0xff, 0xff, 0x07])),
  "endless-number": () => repeated([0xff]),
  "too-large": () => Buffer.alloc(5 << 20, 0x08),
};
