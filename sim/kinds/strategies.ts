/**
 * What is usual about resources, and the strategy that follows from a kind's row.
 * Source: the facts, sections 4 and 6 (D13, D14, D18); recorded answers. The published server's strategies are the
 * source where neither says anything.
 */
import { type Dialect, groupInDialect } from "../../wire/dialect.ts";
import type { ResourceRow } from "../../wire/resources.ts";
import type { TypeRow } from "../../wire/schema.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { typeInDialect } from "./custom/definition-type.ts";
import { kindRow } from "./all-kinds.ts";
import type { KindRow } from "./kind-row.ts";
import type { KindRules } from "../objects/kind-rules.ts";
import type { Strategy, StrategyRow } from "../objects/strategy.ts";
import { zeroStruct } from "../objects/zero-values.ts";

export const usual: StrategyRow = {
  nameRule: "subdomain",
  createOnUpdate: false,
  unconditionalUpdate: true,
  usesGeneration: false,
  resetsStatus: true,
  graceful: false,
  returnsDeleted: false,
  propagation: "Background",
  statusLocks: [],
  allocatesAddresses: false,
  isEmptiedFirst: false,
};

const none: KindRules = {};
const nothing: KindRow = { resource: "" };

const known = new Map<Dialect, Map<ResourceRow, Strategy>>();

/** The strategy of a built-in resource; undefined for one that has no type (query options). Made once. */
export function strategyOf(resource: ResourceRow, dialect: Dialect): Strategy | undefined {
  const { type } = resource;
  if (type === undefined) return undefined;
  let strategies = known.get(dialect);
  if (strategies === undefined) known.set(dialect, (strategies = new Map()));
  let strategy = strategies.get(resource);
  if (strategy === undefined) {
    strategies.set(resource, (strategy = makeStrategy(resource, typeInDialect(type, dialect), dialect)));
  }
  return strategy;
}

function makeStrategy(resource: ResourceRow, type: TypeRow, dialect: Dialect): Strategy {
  const {
    resource: _resource,
    rules = none,
    columns: _columns,
    fieldLabels: _labels,
    ...special
  } = kindRow(resource.group, resource.version, resource.resource) ?? nothing;
  return {
    ...usual,
    ...special,
    type,
    kind: resource.kind,
    group: resource.group,
    errorGroup: resource.kind === "Event" ? "" : groupInDialect(dialect, resource.group),
    namespaced: resource.namespaced,
    dialect,
    hasStatus: resource.subresources.some(({ subresource }) => subresource === "status"),
    zeroStatus: zeroStruct(type)["status"] as JsonObject | undefined,
    knownFinalizersOnly: resource.group !== "apiextensions.svc.io", // whose own finalizer has no domain either
    rules,
  };
}
