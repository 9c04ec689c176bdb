import fc from "fast-check";
import { customTrialTypes, type TrialType, trialTypes } from "../../arbitraries/trial-types.ts";
import type { Answer } from "../../client/exchange.ts";
import { Collection, listOf, objectOf } from "../../client/collection.ts";
import { type ApiObject, isJsonObject } from "../../client/types.ts";
import { Unserved } from "../../client/findings.ts";
import { alteredTokens } from "../../model/continue-tokens.ts";
import type { Attempt } from "../../runner/attempt.ts";
import type { Ground } from "../../runner/collection-play.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { withTrialGround } from "../../runner/trial-ground.ts";

const allTypes = [...trialTypes, ...customTrialTypes];
const titles = allTypes.map(({ title, plural }) => title ?? plural);
const isCustom = (title: string): boolean => typeOf(title).custom !== undefined;

function typeOf(title: string): TrialType {
  const type = allTypes.find(({ title: other, plural }) => (other ?? plural) === title);
  if (type === undefined) throw new Error(`no type is called ${title}`);
  return type;
}

/** A program has one definition of its own at most: of two custom types both are the first. */
const anyPair = fc
  .tuple(fc.constantFrom(...titles), fc.constantFrom(...titles))
  .map(([from, to]) => ({ from, to: isCustom(from) && isCustom(to) ? from : to }));

const pairs: readonly (readonly [string, string])[] = [
  ["configmaps", "configmaps"],
  ["leases", "roles"],
  ["clusterroles", "priorityclasses"],
  ["clusterroles", "configmaps"],
  ["cronjobs", "custom"],
  ["custom", "secrets"],
  ["custom", "custom"],
  ["custom of the cluster", "priorityclasses"],
  ["custom of the cluster", "leases"],
];

/**
 * Property: a token of whatever type and route, sent to a list of another, or altered, shows nothing that is not in the
 * path of the list it is sent to: no other type's objects, no other namespace's.
 * Method: built-in and custom types, of namespaces and of the cluster; each object is known by the uid that its creation told.
 */
export const tokensKeepToTheirType = defineCheck({
  id: "tokens-keep-to-their-type",
  area: "pagination",
  property: "No token of one type or route, as it is or altered, shows its objects in a list of another.",
  requirements: ["pages.token-scope"],
  features: ["configmaps", "namespaces"],
  input: fc.record({
    pair: anyPair,
    /** Whether the pages are those of one namespace, where there is one. */
    isOfNamespace: fc.boolean(),
    climb: fc.constantFrom("../", "../../", "/", "", "/../"),
  }),
  examples: pairs.flatMap(([from, to]) =>
    [true, false].map((isOfNamespace) => ({ pair: { from, to }, isOfNamespace, climb: "../" })),
  ),
  async run(attempt, { pair, isOfNamespace, climb }) {
    const [from, to] = [typeOf(pair.from), typeOf(pair.to)];
    const inGrounds = (body: (from: Ground, to: Ground) => Promise<void>): Promise<void> =>
      from === to
        ? withTrialGround(attempt, from, (ground) => body(ground, ground))
        : withTrialGround(attempt, from, (ground) => withTrialGround(attempt, to, (other) => body(ground, other)));
    await inGrounds(async (ground, other) => {
      const made = await furnish(attempt, ground);
      if (other !== ground) for (const [uid, place] of await furnish(attempt, other)) made.set(uid, place);
      const paged = isOfNamespace ? ground.here : everywhere(attempt, ground);
      const token = listOf(await paged.list({ ...onlyOwn(attempt), limit: 1 })).continueToken;
      if (token === undefined) return;
      const scope = new Scope(attempt, made, token);
      for (const list of listsOf(attempt, other)) await scope.judge(list, token);
      const targets = [
        `${climb}${other.type.plural}/${other.namespace ?? ""}`,
        `${climb}${other.thereNamespace ?? ""}/`,
      ];
      for (const altered of targets.flatMap((target) => alteredTokens(token, target)))
        await scope.judge({ collection: ground.here, type: ground.type, namespace: ground.namespace }, altered);
    });
  },
});

/** A collection as a path shows it. */
interface Place {
  readonly collection: Collection;
  readonly type: TrialType;
  /** Undefined: the cluster's, or of all namespaces. */
  readonly namespace: string | undefined;
}

const own = "example.com/own";
const onlyOwn = ({ target }: Attempt): { readonly labelSelector: string } => ({
  labelSelector: `${own}=${target.name}`,
});

const everywhere = ({ client, target }: Attempt, { prefix, type }: Ground): Collection =>
  new Collection(client, `${prefix}/${type.plural}`, target);

function listsOf(attempt: Attempt, ground: Ground): readonly Place[] {
  const { here, there, type, namespace, thereNamespace } = ground;
  const all = { collection: everywhere(attempt, ground), type, namespace: undefined };
  if (there === undefined) return [all];
  return [{ collection: here, type, namespace }, { collection: there, type, namespace: thereNamespace }, all];
}

/** Makes objects in each of the ground's namespaces, and says of each uid which type it is of. */
async function furnish(attempt: Attempt, ground: Ground): Promise<Map<string, TrialType>> {
  const { target } = attempt;
  const { type, prefix, here, namespace, there, thereNamespace } = ground;
  const beginning = namespace === undefined ? `${target.name}-` : "";
  const names = ["a", "b", "c"].map((name) => `${beginning}${name}-${type.kind.toLowerCase()}`);
  if (namespace === undefined) {
    target.onCleanUp(async (cleaner) => {
      for (const name of names) await cleaner.attempt("DELETE", here.pathOf(name));
    });
  }
  const made = new Map<string, TrialType>();
  for (const [collection, place] of [
    [here, namespace],
    [there, thereNamespace],
  ] as const) {
    for (const name of collection === undefined ? [] : names) {
      const metadata = { name, labels: { [own]: target.name } };
      const apiVersion = prefix.split("/").slice(2).join("/");
      const answer = await collection?.create({
        apiVersion,
        kind: type.kind,
        metadata,
        ...type.desired("value", place),
      });
      if (answer?.status === 404 || answer?.status === 403) throw new Unserved(`${type.plural} that may be made`);
      made.set(objectOf(answer as Answer).metadata.uid ?? "", type);
    }
  }
  return made;
}

class Scope {
  private readonly attempt: Attempt;
  private readonly made: ReadonlyMap<string, TrialType>;
  private readonly token: string;

  constructor(attempt: Attempt, made: ReadonlyMap<string, TrialType>, token: string) {
    this.attempt = attempt;
    this.made = made;
    this.token = token;
  }

  /** A refusal is as good as an empty page. */
  async judge({ collection, type, namespace }: Place, token: string): Promise<void> {
    const answer = await collection.list({ ...onlyOwn(this.attempt), limit: 10, continue: token });
    if (answer.status !== 200 || !isJsonObject(answer.json)) return;
    const shown = answer.json["kind"];
    const stray = listOf(answer).items.find((item) => this.isStray(item, type, namespace));
    const where = namespace === undefined ? type.plural : `${type.plural} in ${namespace}`;
    const sent = token === this.token ? "a token of another list" : "an altered token";
    this.attempt.expect(
      "pages.token-scope",
      shown === `${type.kind}List` && stray === undefined,
      `only objects of ${where}, or a refusal, with ${sent}`,
      `a ${String(shown)} with ${JSON.stringify(stray?.metadata)}`,
    );
  }

  private isStray({ metadata, kind }: ApiObject, type: TrialType, namespace: string | undefined): boolean {
    const { uid = "" } = metadata;
    if (kind !== undefined && kind !== type.kind) return true;
    if (namespace !== undefined && metadata.namespace !== namespace) return true;
    return (this.made.get(uid) ?? type) !== type;
  }
}
