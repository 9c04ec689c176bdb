/**
 * Attacks of the fifth round on `touchstone serve`: two things at once, each of which is quick alone. What ends beside those who
 * watch it, what is written beside those who list it, rules and definitions that change beside the objects they are about.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { AttackRequest } from "../../sim/apiserver/attack-requests.fixture.ts";
import { type ServerTarget, startedServer } from "../server-target.ts";
import { crowd, type ProcessAttack } from "./process-attack.ts";
import { asked, configMaps, create, json, keyed, opened, patch, pods, times } from "./protocol-attacks.ts";

type ServeAttack = ProcessAttack<ServerTarget>;

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const admission = "/apis/admissionregistration.k8s.io/v1";
const rights = "/apis/rbac.authorization.k8s.io/v1";
const group = "fifth.example";
const customs = (version: string): string => `/apis/${group}/${version}/namespaces/default/fifths`;

const formats = {
  json: "application/json",
  protobuf: "application/vnd.kubernetes.protobuf;stream=watch",
  table: "application/json;as=Table;v=v1;g=meta.k8s.io",
  metadata: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
  yaml: "application/yaml",
  cbor: "application/cbor-seq",
} as const;
const formatNames = Object.keys(formats) as (keyof typeof formats)[];

/** A watch over a connection of its own, which is read as it comes. */
function watch(target: ServerTarget, path: string, accept: string): { close(): void } {
  const socket = opened(target);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer admin\r\nAccept: ${accept}\r\n\r\n`);
  return { close: () => void socket.destroy() };
}

/** Watches of `pathOf(at)` stand while the work is done, in all formats in turn. */
const watched =
  (count: number, pathOf: (at: number) => string, work: ServeAttack): ServeAttack =>
  async (target, tell) => {
    const open = times(count, (at) =>
      watch(target, pathOf(at), formats[formatNames[at % formatNames.length] as keyof typeof formats]),
    );
    await sleep(500);
    await work(target, tell);
    await sleep(1_000);
    open.forEach((each) => each.close());
  };

const after =
  (stage: ServeAttack, strike: ServeAttack): ServeAttack =>
  async (target, tell) => {
    await stage(target, () => {});
    return strike(target, tell);
  };

const both =
  (one: ServeAttack, other: ServeAttack): ServeAttack =>
  async (target, tell) => {
    await Promise.all([one(target, tell), other(target, tell)]);
  };

const filled =
  (path: string, count: number, of: (at: number) => object): ServeAttack =>
  async (target) =>
    crowd(count, 32, (at) => target.send(create(path, of(at))));

const labelled = (at: number): object => ({
  metadata: {
    name: `m-${at}`,
    labels: Object.fromEntries(times(20, (of) => [`l${of}`, `v${(at * (of + 1)) % 50}`])),
  },
  data: { k: "v".repeat(200) },
});

const definition = (versionCount: number, properties: object): object => ({
  metadata: { name: `fifths.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "fifths", singular: "fifth", kind: "Fifth", listKind: "FifthList" },
    versions: times(versionCount, (at) => ({
      name: `v${at + 1}`,
      served: true,
      storage: at === 0,
      schema: { openAPIV3Schema: { type: "object", properties } },
      subresources: { status: {} },
    })),
  },
});
const free = { spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };

const fifth = (at: number): object => ({
  apiVersion: `${group}/v1`,
  kind: "Fifth",
  metadata: { name: `f-${at}` },
  spec: keyed(40, "some text of a field"),
});

const defined =
  (versionCount: number, properties: object = free): ServeAttack =>
  async (target) => {
    await target.send(create(definitions, definition(versionCount, properties)));
    await sleep(1_500);
  };

const remove = (path: string): AttackRequest => ({ method: "DELETE", path });
const put = (path: string, object: object): AttackRequest => ({
  method: "PUT",
  path,
  headers: json,
  body: JSON.stringify(object),
});
const ask =
  (...requests: readonly AttackRequest[]): ServeAttack =>
  async (target, tell) => {
    for (const each of requests) tell(String(await target.send(each)));
  };

/** What has something to say about each config map. */
const policies =
  (count: number, expressionOf: (at: number) => string): ServeAttack =>
  async (target) => {
    const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["configmaps"] }];
    for (let at = 0; at < count; at++) {
      await target.send(
        create(`${admission}/validatingadmissionpolicies`, {
          metadata: { name: `p${at}` },
          spec: {
            matchConstraints: { resourceRules: rules },
            validations: times(10, (of) => ({ expression: expressionOf(at * 10 + of) })),
          },
        }),
      );
      await target.send(
        create(`${admission}/validatingadmissionpolicybindings`, {
          metadata: { name: `b${at}` },
          spec: { policyName: `p${at}`, validationActions: ["Deny"] },
        }),
      );
    }
  };

/** One object of a megabyte, applied by so many managers in turn, each of whom owns a part. */
const appliedByMany =
  (count: number): ServeAttack =>
  (target, tell) =>
    crowd(count, 16, async (at) => {
      const data = Object.fromEntries(times(2_000, (of) => [`m${at % 16}-${of}`, `v${at}`]));
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "shared" }, data };
      const path = `${configMaps}/shared?fieldManager=m${at % 16}&force=true`;
      tell(String(await target.send(patch(path, "apply-patch+yaml", body))));
    });

const podOf = (at: number): object => ({
  metadata: { name: `p-${at}`, labels: { app: `a${at % 50}` } },
  spec: { containers: [{ name: "c", image: "i" }] },
});

const terms = (count: number): string =>
  times(count, (at) => `l${at % 20} in (v${at % 50},v${(at + 7) % 50},x${at})`).join(",");

const attacks: Readonly<Record<string, ServeAttack>> = {
  "collection deleted watched-in-thirty-versions": after(
    async (target, tell) => {
      await defined(30)(target, tell);
      await filled(customs("v1"), 1_500, fifth)(target, tell);
    },
    watched(60, (at) => `${customs(`v${(at % 30) + 1}`)}?watch=1`, ask(remove(customs("v7")))),
  ),
  "definition deleted watched-in-ten-versions": after(
    async (target, tell) => {
      await defined(10)(target, tell);
      await filled(customs("v1"), 5_000, fifth)(target, tell);
    },
    watched(
      60,
      (at) => `${customs(`v${(at % 10) + 1}`)}?watch=1`,
      async (target, tell) => {
        await ask(remove(`${definitions}/fifths.${group}`))(target, tell);
        await sleep(4_000);
      },
    ),
  ),
  "definition changed listed-and-watched": after(
    async (target, tell) => {
      await defined(4)(target, tell);
      await filled(customs("v1"), 4_000, fifth)(target, tell);
    },
    watched(
      100,
      (at) => `${customs(`v${(at % 4) + 1}`)}?watch=1`,
      both(
        (target, tell) =>
          crowd(10, 1, async (at) => {
            const properties = { spec: { type: "object", properties: keyed(100 + at, { type: "string" }) } };
            const { spec } = definition(4, properties) as { readonly spec: object };
            const path = `${definitions}/fifths.${group}`;
            tell(String(await target.send(patch(path, "merge-patch+json", { spec }))));
          }),
        asked(64, 16, (at) => ({ path: `${customs(`v${(at % 4) + 1}`)}?limit=2000` })),
      ),
    ),
  ),
  "collection deleted watched-in-every-format": after(
    filled(configMaps, 10_000, labelled),
    watched(
      120,
      (at) => `${configMaps}?watch=1${at % 2 === 0 ? "" : `&labelSelector=l3%3Dv${at % 50}`}`,
      ask(remove(configMaps)),
    ),
  ),
  "collection deleted by-long-selector": after(
    filled(configMaps, 10_000, labelled),
    both(
      asked(16, 16, () => remove(`${configMaps}?labelSelector=${encodeURIComponent(terms(150))}`)),
      asked(32, 16, (at) => ({ path: `${configMaps}?labelSelector=l1%3Dv${at}` })),
    ),
  ),
  "namespace deleted watched": after(
    async (target, tell) => {
      await ask(create("/api/v1/namespaces", { metadata: { name: "ends" } }))(target, tell);
      for (const path of ["configmaps", "secrets", "serviceaccounts", "podtemplates"]) {
        const of = path === "podtemplates" ? { template: { spec: { containers: [{ name: "c", image: "i" }] } } } : {};
        await filled(`/api/v1/namespaces/ends/${path}`, 2_500, (at) => ({ metadata: { name: `e-${at}` }, ...of }))(
          target,
          tell,
        );
      }
    },
    watched(
      80,
      (at) => `/api/v1/${["configmaps", "secrets", "serviceaccounts", "podtemplates"][at % 4]}?watch=1`,
      async (target, tell) => {
        await ask(remove("/api/v1/namespaces/ends"))(target, tell);
        await sleep(6_000);
      },
    ),
  ),
  "applied by-many watched": after(
    ask(create(configMaps, { metadata: { name: "shared" } })),
    watched(60, () => `${configMaps}?watch=1`, appliedByMany(96)),
  ),
  "moves of-megabytes watched": after(
    ask(create(configMaps, { metadata: { name: "large" }, data: keyed(40, "v".repeat(20_000)) })),
    watched(
      100,
      () => `${configMaps}?watch=1`,
      asked(64, 16, (at) =>
        patch(
          `${configMaps}/large`,
          "json-patch+json",
          times(2_000, (of) => ({ op: "add", path: `/data/n${of}`, value: String(at) })),
        ),
      ),
    ),
  ),
  "lists by-long-selectors beside-writes": after(
    filled(configMaps, 20_000, labelled),
    both(
      asked(48, 16, (at) => ({ path: `${configMaps}?labelSelector=${encodeURIComponent(`${terms(120)},l0=v${at}`)}` })),
      asked(2_000, 16, (at) => patch(`${configMaps}/m-${at}`, "merge-patch+json", { data: { k: String(at) } })),
    ),
  ),
  "lists in-every-format beside-writes": after(
    filled(configMaps, 10_000, labelled),
    both(
      asked(48, 16, (at) => ({
        path: configMaps,
        headers: {
          accept: formats[formatNames[at % formatNames.length] as keyof typeof formats].split(";stream")[0] as string,
        },
      })),
      asked(2_000, 16, (at) => patch(`${configMaps}/m-${at}`, "merge-patch+json", { data: { k: String(at) } })),
    ),
  ),
  "policies beside-collections": after(
    async (target, tell) => {
      await filled(configMaps, 2_000, labelled)(target, tell);
      await policies(20, (at) => `object == null || object.metadata.name.size() < ${300 + at}`)(target, tell);
      await sleep(500);
    },
    both(
      asked(400, 16, (at) => put(`${configMaps}/m-${at}`, labelled(at))),
      ask(
        remove(`${configMaps}?labelSelector=l1%3Dv1`),
        remove(`${configMaps}?labelSelector=l2%3Dv2`),
        remove(configMaps),
      ),
    ),
  ),
  "policies changed beside-writes": after(
    policies(20, (at) => `!has(object.data) || object.data.all(k, k.size() < ${100 + at})`),
    both(
      (target, tell) =>
        crowd(60, 4, async (at) => {
          const validations = times(10, (of) => ({ expression: `object.metadata.name.size() < ${200 + at + of}` }));
          const path = `${admission}/validatingadmissionpolicies/p${at % 20}`;
          tell(String(await target.send(patch(path, "merge-patch+json", { spec: { validations } }))));
        }),
      asked(600, 32, (at) => create(configMaps, { metadata: { name: `w-${at}` }, data: keyed(500, "v") })),
    ),
  ),
  "rights changed beside-reads": after(
    async (target) =>
      crowd(300, 16, (at) =>
        target.send(
          create(`${rights}/clusterroles`, {
            metadata: { name: `r${at}`, labels: { part: "of-whole" } },
            rules: times(50, (of) => ({
              apiGroups: [`g${of}`],
              resources: times(20, (it) => `r${it}`),
              verbs: ["get", "list"],
              resourceNames: times(20, (it) => `n${at}-${it}`),
            })),
          }),
        ),
      ),
    both(
      async (target, tell) => {
        const whole = { metadata: { name: "whole" }, rules: [] };
        const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { part: "of-whole" } }] };
        tell(String(await target.send(create(`${rights}/clusterroles`, { ...whole, aggregationRule }))));
        await crowd(60, 8, async (at) => {
          const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"], resourceNames: [`x${at}`] }];
          tell(String(await target.send(patch(`${rights}/clusterroles/r${at}`, "merge-patch+json", { rules }))));
        });
      },
      asked(2_000, 64, () => ({ path: configMaps, as: "nobody" })),
    ),
  ),
  "evictions beside-budgets": after(
    async (target, tell) => {
      await filled(pods, 3_000, podOf)(target, tell);
      await filled("/apis/policy/v1/namespaces/default/poddisruptionbudgets", 500, (at) => ({
        metadata: { name: `b${at}` },
        spec: {
          minAvailable: 1,
          selector: {
            matchExpressions: [
              { key: "app", operator: "In", values: times(50, (of) => `a${of}${at === 0 ? "" : "x"}`) },
            ],
          },
        },
      }))(target, tell);
    },
    asked(1_500, 150, (at) =>
      create(`${pods}/p-${at}/eviction`, { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: `p-${at}` } }),
    ),
  ),
  "quotas beside-collections": after(
    async (target, tell) => {
      for (let at = 0; at < 40; at++) {
        const hard = { "count/configmaps": "20000", pods: "100", "count/secrets": "5" };
        await ask(
          create("/api/v1/namespaces/default/resourcequotas", { metadata: { name: `q${at}` }, spec: { hard } }),
        )(target, tell);
      }
      await sleep(1_000);
      await filled(configMaps, 4_000, labelled)(target, tell);
    },
    both(
      ask(remove(configMaps)),
      asked(800, 32, (at) => create(configMaps, { metadata: { name: `q-${at}` } })),
    ),
  ),
  "logs of-streams beside-collections": after(
    filled(configMaps, 8_000, labelled),
    watched(
      200,
      () =>
        `${configMaps}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&resourceVersion=0`,
      ask(remove(`${configMaps}?labelSelector=l1%20in%20(v1%2Cv2%2Cv3%2Cv4%2Cv5)`), remove(configMaps)),
    ),
  ),
};

const named: Readonly<Record<string, ServeAttack>> = Object.fromEntries(
  Object.entries(attacks).map(([name, attack]) => [`serve ${name}`, attack]),
);

/** Each at a server of its own, as the fourth round's. */
export const mixedGroup = { started: () => startedServer(), attacks: named };
