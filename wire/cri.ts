/**
 * The container runtime interface, version 1, as data, and the port over which a node agent speaks it. The interface is
 * public (`runtime.v1`, as runtimes serve it on a unix socket); beside it stands `Machine`, a service of Touchstone's own:
 * what an agent reads of its host, which a simulated runtime has to model as well.
 *
 * Form of the tables: a field is its number and its shape, `"4 int64"`; `[]` before a shape is a list, `{}` a map from
 * strings, `@Name` a message, `#Name` an enum. Field names are the camelCase ones.
 */
import criTable from "./tables/cri.json" with { type: "json" };
import machineTable from "./tables/machine.json" with { type: "json" };
import type { CriMethods, CriStreams } from "./cri-messages.ts";

export type CriMethod = keyof CriMethods;
export type CriStream = keyof CriStreams;
export type CriRequestOf<M extends CriMethod> = CriMethods[M]["request"];
export type CriMessageOf<M extends CriMethod> = CriMethods[M]["response"];

/** One call: method names are unique over all services. */
export interface CriRequest<M extends CriMethod = CriMethod> {
  readonly method: M;
  readonly message: CriRequestOf<M>;
}

/** Codes of gRPC that runtimes answer with. */
export const grpcCode = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  dataLoss: 15,
  unauthenticated: 16,
} as const;

export type CriAnswer<M extends CriMethod = CriMethod> =
  | {
      readonly ok: true;
      readonly message: CriMessageOf<M>;
      /**
       * Of `ListPodSandbox` and `ListContainers`, from a runtime in the same process: a number that grows with every
       * change that such a list could show. While it is the same, so is every answer; two equal ones make a relist
       * needless. Absent over gRPC.
       */
      readonly generation?: number;
      readonly trace?: CallTrace;
    }
  | { readonly ok: false; readonly code: number; readonly text: string; readonly trace?: CallTrace };

/**
 * Of `ExecSync`, from a runtime in the same process: whether anything is other than it would be without the call, as far as can be
 * told when it is asked. Absent over gRPC.
 */
export type CallTrace = () => boolean;

/** What the stream of container events tells its reader. After `ended` nothing more. */
export interface CriEventSink {
  event(message: CriStreams["GetContainerEvents"]["response"]): void;
  ended(code: number, text: string): void;
}

export type CriShape =
  | { readonly is: "scalar"; readonly type: CriScalar }
  | { readonly is: "enum"; readonly name: string; readonly values: readonly string[] }
  | { readonly is: "message"; readonly name: string };

export type CriScalar = "string" | "bytes" | "bool" | "int32" | "int64" | "uint32" | "uint64" | "double";

export interface CriField {
  readonly name: string;
  readonly number: number;
  readonly shape: CriShape;
  readonly many: "no" | "list" | "map";
}

export interface CriMethodRow {
  /** With its package, as it stands in the path of a gRPC call. */
  readonly service: string;
  readonly method: string;
  readonly request: string;
  readonly response: string;
  readonly streams: boolean;
}

interface RawTable {
  readonly services: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
  readonly messages: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly enums: Readonly<Record<string, readonly string[]>>;
}

const packages: readonly (readonly [string, RawTable])[] = [
  ["runtime.v1", criTable as unknown as RawTable],
  ["touchstone.machine.v1", machineTable as unknown as RawTable],
];

/** Every method of every service, in table order. */
export const criMethods: readonly CriMethodRow[] = packages.flatMap(([name, table]) =>
  Object.entries(table.services).flatMap(([service, methods]) =>
    Object.entries(methods).map(([method, [request, response, stream]]) => ({
      service: `${name}.${service}`,
      method,
      request: request as string,
      response: response as string,
      streams: stream === "stream",
    })),
  ),
);

const rows = new Map(criMethods.map((row) => [row.method, row]));

/** A method's row, or undefined for a name that no service has. */
export const criMethod = (method: string): CriMethodRow | undefined => rows.get(method);

const enums: Readonly<Record<string, readonly string[]>> = Object.assign(
  {},
  ...packages.map(([, table]) => table.enums),
);

/** Every message by its name: its fields in table order. */
export const criMessages: ReadonlyMap<string, readonly CriField[]> = new Map(
  packages.flatMap(([, table]) =>
    Object.entries(table.messages).map(([name, fields]) => [name, Object.entries(fields).map(parseField)] as const),
  ),
);

function parseField([name, text]: readonly [string, string]): CriField {
  const [number, shape] = text.split(" ") as [string, string];
  const many = shape.startsWith("[]") ? "list" : shape.startsWith("{}") ? "map" : "no";
  return { name, number: Number(number), shape: parseShape(many === "no" ? shape : shape.slice(2)), many };
}

function parseShape(text: string): CriShape {
  const name = text.slice(1);
  if (text.startsWith("@")) return { is: "message", name };
  if (text.startsWith("#")) return { is: "enum", name, values: enums[name] as readonly string[] };
  return { is: "scalar", type: text as CriScalar };
}
