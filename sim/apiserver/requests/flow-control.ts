/**
 * By which flow schema and priority level a request was let in, as every response says it to a user who is known.
 * Source: the facts, section 8; the published server's mandatory and suggested schemas.
 *
 * Simplification: schemas that only tell a cluster's own components apart are left out, and there are no objects behind
 * the uids: how many requests are in flight is limited by reads and writes alone.
 */
import { InvariantError } from "../../kernel/invariant.ts";
import type { Prng } from "../../kernel/types.ts";
import type { User } from "../access/authenticate.ts";
import { randomUid } from "../../objects/system-fields.ts";
import type { Dialect } from "../../../wire/dialect.ts";

/** Who comes in by one schema. */
export interface Flow {
  readonly schema: string;
  readonly level: string;
  /** Response headers, lower case, with the uids of the schema and of its level. */
  readonly headers: Readonly<Record<string, string>>;
  /** Requests that were let in, and that were turned away. */
  dispatchedCount: number;
  rejectedCount: number;
}

interface SchemaRow {
  /** As the published one is called. */
  readonly name: string;
  readonly level: string;
  readonly takes: (user: User, path: string, system: string) => boolean;
}

const probePaths = new Set(["/healthz", "/livez", "/readyz"]);

/** The first that takes a request has it. */
const schemas: readonly SchemaRow[] = [
  { name: "exempt", level: "exempt", takes: ({ groups }) => groups.includes("system:masters") },
  { name: "probes", level: "exempt", takes: (_, path) => probePaths.has(path) },
  { name: "system-nodes", level: "system", takes: ({ groups }) => groups.includes("system:nodes") },
  {
    name: "system-service-accounts",
    level: "workload-high",
    takes: ({ groups }, _, system) => groups.includes(`system:serviceaccounts:${system}`),
  },
  {
    name: "service-accounts",
    level: "workload-low",
    takes: ({ groups }) => groups.includes("system:serviceaccounts"),
  },
  { name: "global-default", level: "global-default", takes: () => true },
];

export class FlowControl {
  private readonly system: string;
  private readonly rows: readonly (readonly [takes: SchemaRow["takes"], flow: Flow])[];

  constructor(dialect: Dialect, prng: Prng) {
    this.system = dialect.systemNamespaces.system;
    const levels = new Map<string, string>();
    for (const { level } of schemas) if (!levels.has(level)) levels.set(level, randomUid(prng));
    this.rows = schemas.map(({ takes, level, name }) => [
      takes,
      {
        schema: name,
        level,
        headers: {
          [`${dialect.headerPrefix}pf-flowschema-uid`]: randomUid(prng),
          [`${dialect.headerPrefix}pf-prioritylevel-uid`]: levels.get(level) as string,
        },
        dispatchedCount: 0,
        rejectedCount: 0,
      },
    ]);
  }

  get flows(): readonly Readonly<Flow>[] {
    return this.rows.map(([, flow]) => flow);
  }

  flowOf(user: User, path: string): Flow {
    for (const [takes, flow] of this.rows) if (takes(user, path, this.system)) return flow;
    throw new InvariantError("the last flow schema takes everybody", path);
  }
}
