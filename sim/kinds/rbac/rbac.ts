/**
 * Roles and bindings: defaults, and what makes one unusable. Who may grant what is judged in `sim/apiserver/admission/rbac-escalation.ts`.
 * Source: the published defaults and validation of the group.
 */
import { type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import { goQuote } from "../../../wire/go-strings.ts";
import type { JsonObject, Json } from "../../contract/http-message.ts";
import { goStrings } from "../../objects/causes.ts";
import { type Draft, isObject, ownChild } from "../../contract/objects.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { eachItem } from "../core/pod-template.ts";
import { printer, nameColumn, column, textAt, ageColumn, wide, listAt } from "../shared/printer.ts";
import type { KindRow } from "../kind-row.ts";
import type { Rule } from "../../objects/place.ts";
import {
  struct,
  required,
  fine,
  fieldRules,
  each,
  type Table,
  always,
  oneOf,
  caseOf,
  unlessEmpty,
  stepRules,
} from "../../objects/rules.ts";
import { labelSelector } from "../shared/label-selector.ts";
import { pathSegment, subdomain } from "../shared/formats.ts";

/** A role without rules says so. */
const defaults = (draft: Draft): void => void (draft["rules"] ??= null);

/** A rule is about resources or about URLs, and only a cluster's may be about URLs. */
const policyRule = (namespaced: boolean): Rule =>
  struct({ verbs: required(fine, "verbs must contain at least one value") }, (rule: JsonObject, at) => {
    const urls = textsOf(rule, "nonResourceURLs");
    if (urls.length === 0) {
      resourceRule.judge(rule as never, at);
      return;
    }
    const refuse = (detail: string): void => at.of("nonResourceURLs").invalidText(goStrings(urls), detail);
    if (namespaced) refuse("namespaced rules cannot apply to non-resource URLs");
    if (["apiGroups", "resources", "resourceNames"].some((field) => textsOf(rule, field).length > 0)) {
      refuse("rules cannot apply to both regular resources and non-resource URLs");
    }
  });

const resourceRule = struct({
  apiGroups: required(fine, "resource rules must supply at least one api group"),
  resources: required(fine, "resource rules must supply at least one resource"),
});

const roleRules: KindRules = {
  defaults,
  validate: fieldRules({ rules: each(policyRule(true)) }),
};

const noSelector = "at least one clusterRoleSelector required if aggregationRule is non-nil";

const clusterRoleRules: KindRules = {
  defaults,
  validate: fieldRules({
    rules: each(policyRule(false)),
    aggregationRule: struct({ clusterRoleSelectors: required(each(labelSelector), noSelector) }),
  }),
};

const textOf = (object: JsonObject, field: string): string => (object[field] ?? "") as string;
const textsOf = (object: JsonObject, field: string): readonly string[] => (object[field] ?? []) as readonly string[];

const groups = new Map<Dialect, string>(); // dialects are few, and asked of at each subject

function rbacGroup(dialect: Dialect): string {
  let group = groups.get(dialect);
  if (group === undefined) groups.set(dialect, (group = groupInDialect(dialect, "rbac.authorization.svc.io")));
  return group;
}

const ownGroup: Rule = {
  zero: "",
  absent: "",
  judge(group: string, at) {
    const own = rbacGroup(at.dialect);
    if (group !== own) at.unsupported(group, [own]);
  },
};

const roleBindingRules: KindRules = bindingRules(["Role", "ClusterRole"], {});
const clusterRoleBindingRules: KindRules = bindingRules(["ClusterRole"], { namespace: required() });

/** `ofAccounts` says what subjects need that are service accounts. */
function bindingRules(roleKinds: readonly string[], ofAccounts: Table): KindRules {
  return {
    defaults(draft, dialect) {
      const group = rbacGroup(dialect);
      const ref = draft["roleRef"];
      if (isObject(ref) && textOf(ref, "apiGroup") === "") ownChild(draft, "roleRef")["apiGroup"] = group;
      eachItem(draft, "subjects", (subject) => subjectDefaults(subject, group));
    },
    validate: fieldRules({
      roleRef: always(struct({ apiGroup: ownGroup, kind: always(oneOf(roleKinds)), name: required(pathSegment) })),
      subjects: each(
        struct(
          { name: required(), kind: always(oneOf(["ServiceAccount", "User", "Group"])) },
          caseOf("kind", {
            ServiceAccount: { name: unlessEmpty(subdomain), apiGroup: unlessEmpty(oneOf([""])), ...ofAccounts },
            User: { apiGroup: ownGroup },
            Group: { apiGroup: ownGroup },
          }),
        ),
      ),
    }),
    /** A binding that came to mean another role would keep its subjects' trust: it is made anew instead. */
    validateUpdate: stepRules({
      roleRef(now, before, at) {
        const after = shownRef(now);
        if (after !== shownRef(before)) at.invalidText(after, "cannot change roleRef");
      },
    }),
  };
}

function subjectDefaults(subject: Draft, group: string): void {
  const { kind, apiGroup } = subject;
  if ((apiGroup ?? "") === "" && (kind === "User" || kind === "Group")) subject["apiGroup"] = group;
}

function shownRef(ref: Json | undefined): string {
  const { apiGroup = "", kind = "", name = "" } = (ref ?? {}) as Readonly<Record<string, string>>;
  return `rbac.RoleRef{APIGroup:${goQuote(apiGroup)}, Kind:${goQuote(kind)}, Name:${goQuote(name)}}`;
}

const binding = printer(
  nameColumn,
  column("Role", "What is given.", (it) => `${textAt(it, "roleRef.kind")}/${textAt(it, "roleRef.name")}`),
  ageColumn,
  wide(column("Users", "Users that have it.", (it) => subjects(it, "User"))),
  wide(column("Groups", "Groups that have it.", (it) => subjects(it, "Group"))),
  wide(column("ServiceAccounts", "Service accounts that have it.", (it) => subjects(it, "ServiceAccount"))),
);

export const clusterRoleKind: KindRow = {
  resource: "rbac.authorization.svc.io/clusterroles",
  nameRule: "pathSegment",
  createOnUpdate: true,
  rules: clusterRoleRules,
};

export const clusterRoleBindingKind: KindRow = {
  resource: "rbac.authorization.svc.io/clusterrolebindings",
  nameRule: "pathSegment",
  createOnUpdate: true,
  rules: clusterRoleBindingRules,
  columns: binding,
};

export const roleKind: KindRow = {
  resource: "rbac.authorization.svc.io/roles",
  nameRule: "pathSegment",
  createOnUpdate: true,
  rules: roleRules,
};

export const roleBindingKind: KindRow = {
  resource: "rbac.authorization.svc.io/rolebindings",
  nameRule: "pathSegment",
  createOnUpdate: true,
  rules: roleBindingRules,
  columns: binding,
};

function subjects(object: JsonObject, kind: string): string {
  return listAt(object, "subjects")
    .filter((subject) => subject["kind"] === kind)
    .map((subject) => {
      const name = textAt(subject, "name");
      return kind === "ServiceAccount" ? `${textAt(subject, "namespace")}/${name}` : name;
    })
    .join(", ");
}
