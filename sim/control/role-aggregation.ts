/**
 * Gives each ClusterRole that collects others the rules of those that its selectors choose. A client of the API like
 * any other: it watches ClusterRoles and applies `rules` as their one owner.
 *
 * Source: the published controller: roles in the order of their names, selector by selector, each rule once, never
 * the role itself; what a person writes into the rules of such a role is overwritten.
 */
import { encodeJson, compareBytes } from "../../wire/go-strings.ts";
import { type Dialect, groupInDialect } from "../../wire/dialect.ts";
import { patchMediaTypes } from "../../wire/media-types.ts";
import { isSelectorError, parseLabelSelector } from "../../wire/selectors.ts";
import type { ApiHandler, Json, JsonObject, Responder } from "../apiserver/http-message.ts";
import { metadataOf } from "../apiserver/objects/types.ts";
import { selectorText } from "../apiserver/representations/selector-text.ts";
import type { Micros, Process } from "../kernel/types.ts";

export interface RoleAggregationOptions {
  readonly process: Process;
  readonly server: ApiHandler;
  readonly dialect: Dialect;
}

/** Between hearing of a change and the look at all roles: a burst of changes is one look. */
const stepMicros: Micros = 10_000;
/** Wait before a broken watch is opened again. */
const retryMicros: Micros = 1_000_000;
const manager = "clusterrole-aggregation-controller";

export class RoleAggregation {
  private readonly options: RoleAggregationOptions;
  private readonly collection: string;
  private readonly identity: { readonly commonName: string; readonly organizations: readonly string[] };
  private roles = new Map<string, JsonObject>();
  private isWaiting = false;

  constructor(options: RoleAggregationOptions) {
    const { dialect } = options;
    this.options = options;
    this.collection = `/apis/${groupInDialect(dialect, "rbac.authorization.svc.io")}/v1/clusterroles`;
    const commonName = `system:serviceaccount:${dialect.systemNamespaces.system}:${manager}`;
    this.identity = { commonName, organizations: ["system:masters"] };
  }

  start(): void {
    this.roles = new Map(); // a watch from anywhere begins with all there is
    const again = (): void => this.later(retryMicros, () => this.start());
    const request = this.request("GET", this.collection, "watch=1&resourceVersion=0&timeoutSeconds=3600");
    this.options.server.start(request, {
      respond: again,
      open: () => {},
      frame: (payload) => {
        if (payload.object !== undefined) this.hear(payload.object);
        return 0;
      },
      close: again,
    });
  }

  private hear({ type, object }: JsonObject): void {
    const { name = "" } = metadataOf(object as JsonObject);
    if (type === "ADDED" || type === "MODIFIED") this.roles.set(name, object as JsonObject);
    else if (type === "DELETED") this.roles.delete(name);
    else return;
    if (this.isWaiting) return;
    this.isWaiting = true;
    this.later(stepMicros, () => {
      this.isWaiting = false;
      for (const role of sorted(this.roles)) this.settle(role);
    });
  }

  private settle(role: JsonObject): void {
    const rules = collectedRules(role, this.roles);
    if (rules === undefined || encodeJson(rules) === encodeJson(role["rules"] ?? [])) return;
    const { name = "" } = metadataOf(role);
    const { apiVersion } = role;
    const body = { apiVersion, kind: "ClusterRole", metadata: { name }, rules } as JsonObject;
    const path = `${this.collection}/${name}`;
    this.options.server.start(this.request("PATCH", path, `fieldManager=${manager}&force=true`, body), unheard);
  }

  private request(method: string, path: string, query: string, body?: JsonObject): Parameters<ApiHandler["start"]>[0] {
    const headers = body === undefined ? {} : { "content-type": patchMediaTypes.apply };
    return { method, path, query, headers, body, clientCertificate: this.identity };
  }

  private later(micros: Micros, work: () => void): void {
    this.options.process.clock.after(micros, work);
  }
}

/** A refused application is tried again with the next change: the object is as wrong as it was. */
const unheard: Responder = { respond: () => {}, open: () => {}, frame: () => 0, close: () => {} };

/** The rules of a role that collects others; undefined for one that does not. */
export function collectedRules(role: JsonObject, all: ReadonlyMap<string, JsonObject>): readonly Json[] | undefined {
  const aggregation = role["aggregationRule"] as JsonObject | undefined;
  if (aggregation === undefined) return undefined;
  const rules = new Map<string, Json>();
  for (const selector of (aggregation["clusterRoleSelectors"] ?? []) as readonly JsonObject[]) {
    const parsed = parseLabelSelector(selectorText(selector));
    if (isSelectorError(parsed)) continue;
    for (const other of sorted(all)) {
      const { name, labels } = metadataOf(other);
      if (name === metadataOf(role).name || !parsed.matches(labels)) continue;
      for (const rule of (other["rules"] ?? []) as readonly Json[]) rules.set(encodeJson(rule), rule);
    }
  }
  return [...rules.values()];
}

function sorted(roles: ReadonlyMap<string, JsonObject>): readonly JsonObject[] {
  return [...roles].sort(([left], [right]) => compareBytes(left, right)).map(([, role]) => role);
}
