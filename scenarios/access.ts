/**
 * Whom the servers of a scenario call to learn who somebody is and what they may, and to tell what they did: an issuer of
 * tokens, authorization webhooks, a collector of traces. The two configuration files stand beside them, as a served server
 * takes them.
 */
import { z } from "zod";
import { duration, place, positiveDuration } from "./values.ts";

const fields = z.record(z.string(), z.json());
const delay = duration.default(1000).describe("From a call to its answer.");

const issuer = z.strictObject({
  name: place,
  url: z
    .string()
    .regex(/^https:\/\/[^\s/?#]+[^\s?#]*$/, { error: "expected an https URL, as tokens say it in iss" })
    .describe("As the authentication file and tokens say it. No trailing slash is added or taken."),
  delay,
});

const asked = z
  .strictObject({
    user: z.string().optional(),
    group: z.string().optional().describe("One of the user's groups."),
    verb: z.string().optional(),
    resource: z.string().optional(),
    namespace: z.string().optional(),
    path: z.string().optional().describe("Of a request that is about no resource."),
  })
  .describe("What is asked about; a field that is not there fits everything.");

const opinion = z
  .strictObject({
    allow: asked.optional(),
    deny: asked.optional(),
    from: duration.default(0).describe("It says so from this time on."),
    until: positiveDuration.optional().describe("And until this. Default: for ever."),
  })
  .superRefine(({ allow, deny }, context) => {
    if ((allow === undefined) === (deny === undefined))
      context.addIssue({ code: "custom", message: "says one of allow and deny, and what about" });
  });

const webhook = z.strictObject({
  name: place.describe("As an authorizer of the authorization file is called, or as its connection file is: /NAME."),
  delay,
  says: z.array(opinion).max(1000).default([]).describe("The first that fits. Where none does, it has no opinion."),
});

const collector = z.strictObject({
  name: place.default("collector"),
  delay,
  samplingRatePerMillion: z
    .int()
    .min(0)
    .max(1_000_000)
    .default(1_000_000)
    .describe("Of a million requests so many are traced."),
});

export const accessSection = z.strictObject({
  authentication: fields
    .optional()
    .describe("The fields of an AuthenticationConfiguration, without apiVersion and kind. Default: none is read."),
  authorization: fields
    .optional()
    .describe(
      "The fields of an AuthorizationConfiguration. A webhook without connectionInfo is the one below that has the authorizer's name. Default: everything is allowed.",
    ),
  issuers: z.array(issuer).max(64).default([]),
  webhooks: z.array(webhook).max(64).default([]),
  collector: collector.optional().describe("Who is told of requests. Default: nobody."),
});

export type AccessSection = z.infer<typeof accessSection>;
export type WebhookRow = z.infer<typeof webhook>;

/** What can be wrong with whom servers and agents call, by what it is. */
export const misbehaviours = {
  issuer: ["down", "wrong-issuer", "no-keys", "broken"],
  webhook: ["down", "refused", "garbled", "both", "broken"],
  collector: ["down", "refused"],
  runtime: ["hung", "failing", "unready"],
} as const;
export type OutsiderKind = keyof typeof misbehaviours;
export type Misbehaviour = (typeof misbehaviours)[OutsiderKind][number];
export const misbehaviourNames = [...new Set(Object.values(misbehaviours).flat())] as [Misbehaviour, ...Misbehaviour[]];

/** By name, what each is that servers call. */
export function outsidersOf({ issuers, webhooks, collector: one }: AccessSection): ReadonlyMap<string, OutsiderKind> {
  return new Map<string, OutsiderKind>([
    ...issuers.map(({ name }) => [name, "issuer"] as const),
    ...webhooks.map(({ name }) => [name, "webhook"] as const),
    ...(one === undefined ? [] : [[one.name, "collector"] as const]),
  ]);
}

/** The same, and the container runtimes of nodes, each under its node's name. */
export function calledOf(
  access: AccessSection,
  clients: readonly { readonly name: string; readonly kind?: string }[],
): ReadonlyMap<string, OutsiderKind> {
  const runtimes = clients.flatMap(({ name, kind }) => (kind === "agent" ? [[name, "runtime"] as const] : []));
  return new Map<string, OutsiderKind>([...outsidersOf(access), ...runtimes]);
}

/** Those whom this can happen to when nobody is named. */
export function sufferersOf(called: ReadonlyMap<string, OutsiderKind>, verb: string, how?: string): readonly string[] {
  return [...called].flatMap(([name, kind]) => {
    if (verb === "rotate") return kind === "issuer" ? [name] : [];
    return how === undefined || (misbehaviours[kind] as readonly string[]).includes(how) ? [name] : [];
  });
}
