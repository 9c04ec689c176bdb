/**
 * The OpenAPI 3 document of one group version: a path for every place that the router knows, an operation for every
 * verb, and the schemas behind them. Source: document 1, API documents and path shapes.
 */
import { type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import { joinGroupVersion, type ResourceRow, resourcesOf } from "../../../wire/resources.ts";
import { structOfKind } from "../../../wire/schema.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { type CustomSchemas, noCustomSchemas } from "./custom-schemas.ts";
import { componentName, kindInDialect, schemasOf } from "./schemas.ts";

const meta = "~apimachinery.pkg.apis.meta.v1.";

/** Parameters by the verb that takes them; every operation also takes `pretty`. */
const writeParameters = ["dryRun", "fieldManager", "fieldValidation"];
const listParameters = [
  "allowWatchBookmarks:boolean",
  "continue",
  "fieldSelector",
  "labelSelector",
  "limit:integer",
  "resourceVersion",
  "resourceVersionMatch",
  "sendInitialEvents:boolean",
  "timeoutSeconds:integer",
  "watch:boolean",
];
const deleteParameters = ["dryRun", "gracePeriodSeconds:integer", "orphanDependents:boolean", "propagationPolicy"];

interface OperationRow {
  readonly verb: string;
  readonly method: string;
  readonly action: string;
  readonly parameters: readonly string[];
}

const onCollection: readonly OperationRow[] = [
  { verb: "list", method: "get", action: "list", parameters: listParameters },
  { verb: "create", method: "post", action: "post", parameters: writeParameters },
  {
    verb: "deletecollection",
    method: "delete",
    action: "deletecollection",
    parameters: [...deleteParameters, ...listParameters],
  },
];
const onItem: readonly OperationRow[] = [
  { verb: "get", method: "get", action: "get", parameters: [] },
  { verb: "update", method: "put", action: "put", parameters: writeParameters },
  { verb: "patch", method: "patch", action: "patch", parameters: [...writeParameters, "force:boolean"] },
  { verb: "delete", method: "delete", action: "delete", parameters: deleteParameters },
];
const onSubresource: readonly OperationRow[] = [
  ...onItem.filter(({ verb }) => verb !== "delete"),
  { verb: "create", method: "post", action: "post", parameters: writeParameters },
];

/** What an operation is about. */
interface Subject {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

/** What custom resources add to a group version. */
export interface CustomPart {
  readonly rows: readonly ResourceRow[];
  readonly schemas: CustomSchemas;
}

/** What a custom resource can be patched with: its schema does not say how a strategic patch would merge its lists. */
const customPatchMediaTypes = ["json-patch+json", "merge-patch+json", "apply-patch+yaml"].map(
  (form) => `application/${form}`,
);
const patchMediaTypes = [...customPatchMediaTypes, "application/strategic-merge-patch+json"];

const nothingCustom: CustomPart = { rows: [], schemas: noCustomSchemas };

/** What a document is made with. */
interface Making {
  readonly dialect: Dialect;
  /** Types that it refers to, as they are met. */
  readonly types: Set<string>;
  readonly custom: CustomSchemas;
}

/** Resources of a step: some microseconds for each path of one, and a group may have thousands. */
const rowsPerStep = 20;

/** `group` in the `svc` dialect. */
export function* openApiSteps(
  dialect: Dialect,
  group: string,
  version: string,
  { rows, schemas }: CustomPart = nothingCustom,
): Generator<void, JsonObject> {
  const types = new Set<string>([`${meta}Status`]);
  const making: Making = { dialect, types, custom: schemas };
  const root = group === "" ? `/api/${version}` : `/apis/${groupInDialect(dialect, group)}/${version}`;
  const paths: Record<string, JsonObject> = {};
  const put = (row: ResourceRow, patchForms: readonly string[]): void => {
    for (const [path, place] of placesOf(row)) paths[`${root}${path}`] = pathItem(making, place, path, patchForms);
  };
  for (const row of resourcesOf(group, version)) put(row, patchMediaTypes);
  for (const [at, row] of rows.entries()) {
    if (at % rowsPerStep === rowsPerStep - 1) yield;
    put(row, customPatchMediaTypes);
  }
  if (rows.length >= rowsPerStep) yield;
  return {
    openapi: "3.0.0",
    info: { title: dialect.name === "kubernetes" ? "Kubernetes" : "Service", version: "v1.33.3" },
    paths,
    components: { schemas: schemasOf(dialect, types, schemas) },
  };
}

interface Place {
  readonly subject: Subject;
  readonly operations: readonly OperationRow[];
}

function* placesOf(row: ResourceRow): Generator<readonly [path: string, place: Place]> {
  const { resource, namespaced } = row;
  const own = namespaced ? `/namespaces/{namespace}/${resource}` : `/${resource}`;
  const readable = onCollection.filter(({ verb }) => verb === "list");
  if (namespaced && row.verbs.includes("list")) yield [`/${resource}`, { subject: row, operations: readable }];
  yield [own, { subject: row, operations: onCollection }];
  if (row.verbs.includes("get")) yield [`${own}/{name}`, { subject: row, operations: onItem }];
  for (const subresource of row.subresources) {
    if (subresource.type === undefined) continue; // a connection, with options for a kind
    yield [`${own}/{name}/${subresource.subresource}`, { subject: subresource, operations: onSubresource }];
  }
}

function pathItem(
  making: Making,
  { subject, operations }: Place,
  path: string,
  patchForms: readonly string[],
): JsonObject {
  const offered = operations.filter(({ verb }) => subject.verbs.includes(verb));
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  return {
    ...Object.fromEntries(offered.map((row) => [row.method, operation(making, subject, row, patchForms)])),
    parameters: [...inPath, queryParameter("pretty")],
  };
}

function operation(
  { dialect, types, custom }: Making,
  subject: Subject,
  row: OperationRow,
  patchForms: readonly string[],
): JsonObject {
  const { group, version, kind } = subject;
  const gvk = { group, version, kind };
  const body = requestType(subject, row, custom);
  const answer = responseType(subject, row, custom);
  const content = (type: string): JsonObject => {
    types.add(type);
    const schema = { $ref: `#/components/schemas/${componentName(dialect, type)}` };
    // A patch comes in its own media types; everything else as JSON, like the document itself.
    const forms = row.verb === "patch" && type === `${meta}Patch` ? patchForms : ["application/json"];
    return { content: Object.fromEntries(forms.map((form) => [form, { schema }])) };
  };
  const status = row.verb === "create" ? "201" : "200";
  return {
    parameters: row.parameters.map(queryParameter),
    ...(body === undefined ? {} : { requestBody: content(body) }),
    responses: {
      [status]: { description: status === "201" ? "Created" : "OK", ...content(answer) },
      "401": { description: "Unauthorized" },
    },
    [`${dialect.extensionPrefix}action`]: row.action,
    [`${dialect.extensionPrefix}group-version-kind`]: kindInDialect(dialect, gvk),
  };
}

function requestType(subject: Subject, { verb }: OperationRow, custom: CustomSchemas): string | undefined {
  if (verb === "create" || verb === "update") return typeOf(subject, custom);
  if (verb === "patch") return `${meta}Patch`;
  return verb === "delete" || verb === "deletecollection" ? `${meta}DeleteOptions` : undefined;
}

function responseType(subject: Subject, { verb }: OperationRow, custom: CustomSchemas): string {
  if (verb === "list") return typeOf({ ...subject, kind: `${subject.kind}List` }, custom);
  return verb === "delete" || verb === "deletecollection" ? `${meta}Status` : typeOf(subject, custom);
}

function typeOf({ group, version, kind }: Omit<Subject, "verbs">, custom: CustomSchemas): string {
  const own = custom.types.get(`${group}/${version}/${kind}`);
  if (own !== undefined) return own;
  // A kind without a table is shown as what every object is.
  return structOfKind(joinGroupVersion(group, version), kind)?.name ?? `${meta}PartialObjectMetadata`;
}

/** `limit:integer`, or a name alone for a string. */
function queryParameter(text: string): JsonObject {
  const [name = "", type = "string"] = text.split(":");
  return { name, in: "query", schema: { type } };
}
