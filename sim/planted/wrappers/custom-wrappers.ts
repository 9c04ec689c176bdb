/** Planted bugs of what definitions are served as, and for how long, around what makes that in a server that knows nothing of them. */
import { append } from "../../../wire/lists.ts";
import { customResource } from "../../apiserver/catalogue/custom-resource.ts";
import type { TornDown } from "../../apiserver/catalogue/custom-resources.ts";
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { isObject } from "../../contract/objects.ts";
import { extensionNames } from "../../kinds/custom/schema.ts";
import { setCustomWalk, walkOfStruct } from "../../objects/walker.ts";
import { dropped } from "./misreading.ts";
import { type Planted, type Rows, wrapped } from "./planted.ts";

type ResourceOf = typeof customResource;

export const customResourceWith = (planted: Planted): ResourceOf => wrapped(planted, resourceRows, customResource);

export const tornDownWith = (planted: Planted, tornDown: TornDown): TornDown =>
  wrapped(planted, tornDownRows, tornDown);

const tornDownRows: Rows<TornDown> = {
  "watch-crd-change-strands-stream": (tornDown, shows) => (name) => {
    if (!shows()) tornDown(name);
  },
};

const resourceRows: Rows<ResourceOf> = {
  "pruning-stops-at-lists": (inner, shows) => (definition, version, dialect) => {
    const { preserveUnknownFields } = extensionNames(dialect.extensionPrefix);
    const made = inner(definition, version, dialect);
    if (!shows() || made.custom === undefined || version.schema === undefined) return made;
    const schema = changedInside(version.schema, (each) =>
      isObject(each["items"]) ? { ...each, items: { ...each["items"], [preserveUnknownFields]: true } } : each,
    );
    return { ...inner(definition, { ...version, schema }, dialect), custom: made.custom };
  },
  // Of all that is made of a schema, apply alone looks at the type.
  "map-list-by-first-key": (inner, shows) => (definition, version, dialect) => {
    const { listMapKeys } = extensionNames(dialect.extensionPrefix);
    const made = inner(definition, version, dialect);
    if (!shows() || version.schema === undefined) return made;
    const schema = changedInside(version.schema, (each) =>
      Array.isArray(each[listMapKeys]) ? { ...each, [listMapKeys]: each[listMapKeys].slice(0, 1) } : each,
    );
    const { type } = inner(definition, { ...version, schema }, dialect).target;
    return { ...made, target: { ...made.target, type }, strategy: { ...made.strategy, type } };
  },
  "atomic-maps-are-merged": (inner, shows) => (definition, version, dialect) => {
    const { mapType } = extensionNames(dialect.extensionPrefix);
    const made = inner(definition, version, dialect);
    if (!shows() || version.schema === undefined) return made;
    const schema = changedInside(version.schema, (each) => dropped(each, mapType));
    const { type } = inner(definition, { ...version, schema }, dialect).target;
    return { ...made, target: { ...made.target, type }, strategy: { ...made.strategy, type } };
  },
  "transition-rules-unheeded": (inner, shows) => (definition, version, dialect) => {
    const { validations } = extensionNames(dialect.extensionPrefix);
    const made = inner(definition, version, dialect);
    if (!shows() || version.schema === undefined) return made;
    const schema = changedInside(version.schema, (each) => {
      const rules = each[validations];
      if (!Array.isArray(rules)) return each;
      const kept = (rules as readonly JsonObject[]).filter(({ rule }) => !/\boldSelf\b/.test(String(rule)));
      return { ...each, [validations]: kept };
    });
    const { rules } = inner(definition, { ...version, schema }, dialect).strategy;
    return { ...made, strategy: { ...made.strategy, rules } };
  },
  "rules-stop-at-lists": (inner, shows) => (definition, version, dialect) => {
    const { validations } = extensionNames(dialect.extensionPrefix);
    const made = inner(definition, version, dialect);
    if (!shows() || version.schema === undefined) return made;
    const schema = changedInside(version.schema, (each) => inItems(each, (inside) => dropped(inside, validations)));
    const { rules } = inner(definition, { ...version, schema }, dialect).strategy;
    return { ...made, strategy: { ...made.strategy, rules } };
  },
  "defaults-stop-at-lists": (inner, shows) => (definition, version, dialect) => {
    const made = inner(definition, version, dialect);
    if (!shows() || made.custom === undefined || version.schema === undefined) return made;
    const schema = changedInside(version.schema, (each) => inItems(each, (inside) => dropped(inside, "default")));
    return { ...inner(definition, { ...version, schema }, dialect), custom: made.custom };
  },
  "strict-rejects-metadata": (inner, shows) => (definition, version, dialect) => {
    const made = inner(definition, version, dialect);
    const { type } = made.target;
    const walk = walkOfStruct(type);
    setCustomWalk(type, (value, context, previous) => {
      const shaped = walk(value, context, previous);
      if (isObject(value) && shows()) append(context.unknown, unnamedMetadata(value, version.schema));
      return shaped;
    });
    return made;
  },
  "set-doubles-on-update": (inner, shows) => (definition, version, dialect) => {
    const made = inner(definition, version, dialect);
    const { rules } = made.strategy;
    const validate: typeof rules.validate = (object, causes, ofDialect, live) => {
      const own: Cause[] = [];
      rules.validate?.(object, own, ofDialect, live);
      const isBlind = live !== undefined && shows();
      append(causes, isBlind ? own.filter(({ reason }) => reason !== "FieldValueDuplicate") : own);
    };
    return { ...made, strategy: { ...made.strategy, rules: { ...rules, validate } } };
  },
  "older-objects-get-no-defaults": (inner, shows) => (definition, version, dialect) => {
    const made = inner(definition, version, dialect);
    const { view } = made;
    if (view === undefined || !version.storage) return made;
    return {
      ...made,
      view: { ...view, fromStored: (stored) => (shows() ? stored : view.fromStored(stored)) },
    };
  },
};

/** The schema with what a bug makes of it and of each schema of a value inside. */
function changedInside(schema: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject {
  const inside = (value: unknown): JsonObject => changedInside(value as JsonObject, change);
  const { properties, items, additionalProperties } = schema;
  return change({
    ...schema,
    ...(isObject(properties)
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, inside(inner)])) }
      : {}),
    ...(isObject(items) ? { items: inside(items) } : {}),
    ...(isObject(additionalProperties) ? { additionalProperties: inside(additionalProperties) } : {}),
  });
}

/** The schema of a list with what `change` makes of all that its elements are made of. */
const inItems = (schema: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject =>
  isObject(schema["items"]) ? { ...schema, items: changedInside(schema["items"], change) } : schema;

/** Fields of metadata that a schema, which names some of its own, does not name. */
function unnamedMetadata(object: JsonObject, schema: JsonObject = {}): readonly string[] {
  const ofMetadata = ((schema["properties"] ?? {}) as JsonObject)["metadata"] as JsonObject | undefined;
  const { metadata } = object;
  if (ofMetadata === undefined || !isObject(metadata)) return [];
  const named = (ofMetadata["properties"] ?? {}) as JsonObject;
  return Object.keys(metadata).flatMap((field) => (Object.hasOwn(named, field) ? [] : [`metadata.${field}`]));
}
