import fc from "fast-check";
import { jsonMediaType, yamlMediaType } from "../../../wire/media-types.ts";
import { configMap } from "../../arbitraries/config-maps.ts";
import { mediaTypeOf } from "../../client/client.ts";
import { objectOf } from "../../client/collection.ts";
import { readOr, yamlIn } from "../../client/read-bodies.ts";
import { isJsonObject, type Json } from "../../client/types.ts";
import { acceptHeader, chosen, type Clause } from "../../model/accept.ts";
import { acceptAs } from "../../runner/features.ts";
import { defineCheck } from "../../runner/define-check.ts";

const forms = [
  "json",
  "json-charset",
  "json-parameter",
  "yaml",
  "protobuf",
  "unknown",
  "unknown-shape",
  "any",
] as const;
type Form = (typeof forms)[number];
interface Wish {
  readonly form: Form;
  readonly quality?: number;
}
const anyWish: fc.Arbitrary<Wish> = fc.record(
  { form: fc.constantFrom(...forms), quality: fc.constantFrom(0.1, 0.5, 0.9, 1) },
  { requiredKeys: ["form"] },
) as fc.Arbitrary<Wish>;

/**
 * Property: the answer comes in the type that Accept asks for most and that the server has; what nobody has is passed
 * over, and when nothing is left the answer is 406. An error follows the same list.
 * Method: random lists of known, unknown and parametrized types with qualities, against an object, a list and an
 * object that does not exist.
 */
export const acceptChoosesTheAnswer = defineCheck({
  id: "accept-chooses-the-answer",
  area: "negotiation",
  property: "Accept chooses the type of the answer, by quality and then by place.",
  requirements: [
    "negotiation.accept",
    "negotiation.quality",
    "negotiation.wildcard",
    "negotiation.fallback",
    "negotiation.transform-fallback",
    "negotiation.charset",
    "negotiation.errors",
    "errors.not-acceptable",
  ],
  features: ["configmaps"],
  input: fc.record({
    wishes: fc.array(anyWish, { minLength: 1, maxLength: 4 }),
    asked: fc.constantFrom("object", "list", "absent"),
  }),
  examples: [
    { wishes: [{ form: "yaml" }], asked: "object" },
    {
      wishes: [
        { form: "json", quality: 0.1 },
        { form: "yaml", quality: 0.9 },
      ],
      asked: "list",
    },
    { wishes: [{ form: "any" }], asked: "object" },
    { wishes: [{ form: "unknown" }, { form: "json" }], asked: "object" },
    { wishes: [{ form: "unknown-shape" }, { form: "json" }], asked: "list" },
    { wishes: [{ form: "json-charset" }], asked: "object" },
    { wishes: [{ form: "yaml" }], asked: "absent" },
    { wishes: [{ form: "unknown" }], asked: "object" },
  ],
  async run(attempt, { wishes: drawn, asked }) {
    // Whether an error has another shape is for nobody to say: it is a Status in any case.
    const shapeless = (wish: Wish): Wish => (wish.form === "unknown-shape" ? { ...wish, form: "unknown" } : wish);
    const wishes = asked === "absent" ? drawn.map(shapeless) : drawn;
    const has = (form: Form) => wishes.some((wish) => wish.form === form);
    const { profile, features } = attempt;
    const { protobufMediaType } = profile.dialect;
    const collection = await attempt.target.collection("configmaps");
    objectOf(await collection.create(configMap("a", { data: { k: "v" } })));
    const hasProtobuf = features.get("protobuf")?.supported !== false;
    const offered = [jsonMediaType, yamlMediaType, ...(hasProtobuf ? [protobufMediaType] : [])];
    const texts: Readonly<Record<Form, Pick<Clause, "text" | "asks">>> = {
      json: { text: jsonMediaType, asks: jsonMediaType },
      "json-charset": { text: `${jsonMediaType};charset=utf-8`, asks: jsonMediaType },
      "json-parameter": { text: `${jsonMediaType};foo=bar`, asks: jsonMediaType },
      yaml: { text: yamlMediaType, asks: yamlMediaType },
      protobuf: { text: protobufMediaType, asks: protobufMediaType },
      unknown: { text: "text/x-unknown", asks: undefined },
      "unknown-shape": { text: `${acceptAs(profile.dialect, "Table")}9`, asks: undefined }, // version v19
      any: { text: "*/*", asks: "any" },
    };
    const named = wishes.filter(({ form }) => form !== "any");
    // Behind all others: how a wildcard stands to a type that is wanted less is left open.
    const last: readonly Wish[] = has("any") ? [{ form: "any", ...(named.length === 0 ? {} : { quality: 0.05 }) }] : [];
    const clauses = [...named, ...last].map(
      ({ form, quality }): Clause => ({
        ...texts[form],
        ...(quality === undefined ? {} : { quality }),
      }),
    );
    const accept = acceptHeader(clauses);
    const wanted = chosen(clauses, offered, profile.acceptTies);
    const path = { object: collection.pathOf("a"), list: collection.path, absent: collection.pathOf("absent") }[asked];
    const answer = await collection.client.request("GET", path, { accept });
    const said = mediaTypeOf(answer.headers);
    const expected = wanted.find((type) => type === said) ?? wanted[0];
    const requirement = requirementOf(wishes, asked, expected);
    const status = expected === undefined ? 406 : asked === "absent" ? 404 : 200;
    // An object that is not there may be told of before the types are looked at.
    const statuses = status === 406 && asked === "absent" ? [404, 406] : [status];
    const promise = [statuses.join(" or "), wanted.join(" or "), `for Accept: ${accept}`].filter(Boolean).join(" ");
    const type = expected ?? said;
    attempt.expect(requirement, statuses.includes(answer.status) && said === type, promise, `${answer.status} ${said}`);
    if (type === protobufMediaType) return; // how it is written is another question
    const document = (type === yamlMediaType ? readOr(() => yamlIn(answer.text)) : answer.json) as Json | undefined;
    const kind = answer.status >= 400 ? "Status" : asked === "list" ? "ConfigMapList" : "ConfigMap";
    const isKind = isJsonObject(document) && document["kind"] === kind;
    attempt.expect(requirement, isKind, `a ${kind} written in ${type}`, answer.text.slice(0, 300));
  },
});

/** What the list is about, the rarest first. */
function requirementOf(wishes: readonly Wish[], asked: string, expected: string | undefined): string {
  const has = (form: Form) => wishes.some((wish) => wish.form === form);
  const [first] = wishes;
  const rows: readonly (readonly [applies: boolean, requirement: string])[] = [
    [expected === undefined, "errors.not-acceptable"],
    [asked === "absent", "negotiation.errors"],
    [wishes.length === 1 && first?.form === "json-charset", "negotiation.charset"],
    [has("unknown-shape"), "negotiation.transform-fallback"],
    [has("unknown"), "negotiation.fallback"],
    [has("any"), "negotiation.wildcard"],
    [wishes.some(({ quality }) => quality !== undefined), "negotiation.quality"],
  ];
  return rows.find(([applies]) => applies)?.[1] ?? "negotiation.accept";
}
