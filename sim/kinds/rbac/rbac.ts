/**
 * Roles and bindings: defaults, and what makes one unusable. Who may grant what is judged in `sim/apiserver/admission/rbac-escalation.ts`.
 * Source: the published defaults and validation of the group.
 */
import { type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import { goQuote } from "../../../wire/go-strings.ts";
import { dns1123SubdomainErrors, pathSegmentErrors } from "../../../wire/names.ts";
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { goStrings, invalidText, pushInvalid, requiredValue, unsupportedValue } from "../../objects/causes.ts";
import { type Draft, isObject, ownChild } from "../../contract/objects.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { selectorCauses } from "../shared/label-selector.ts";
import { eachItem } from "../core/pod-template.ts";
import { printer, nameColumn, column, textAt, ageColumn, wide, listAt } from "../shared/printer.ts";
import type { KindRow } from "../kind-row.ts";

/** A role without rules says so. */
const defaults = (draft: Draft): void => void (draft["rules"] ??= null);

const roleRules: KindRules = {
  defaults,
  validate: (role, causes) => ruleListCauses(role, true, causes),
};

const clusterRoleRules: KindRules = {
  defaults,
  validate(role, causes) {
    ruleListCauses(role, false, causes);
    const { aggregationRule } = role;
    if (!isObject(aggregationRule)) return;
    const path = "aggregationRule.clusterRoleSelectors";
    const selectors = itemsOf(aggregationRule, "clusterRoleSelectors");
    if (selectors.length === 0) {
      causes.push(requiredValue(path, "at least one clusterRoleSelector required if aggregationRule is non-nil"));
    }
    selectors.forEach((selector, at) => selectorCauses(selector, `${path}[${at}]`, causes));
  },
};

const roleBindingRules: KindRules = bindingRules(["Role", "ClusterRole"], true);
const clusterRoleBindingRules: KindRules = bindingRules(["ClusterRole"], false);

const itemsOf = (object: JsonObject, field: string): readonly JsonObject[] =>
  (object[field] ?? []) as readonly JsonObject[];
const textOf = (object: JsonObject, field: string): string => (object[field] ?? "") as string;
const textsOf = (object: JsonObject, field: string): readonly string[] => (object[field] ?? []) as readonly string[];

function ruleListCauses(role: JsonObject, namespaced: boolean, causes: Cause[]): void {
  itemsOf(role, "rules").forEach((rule, at) => ruleCauses(rule, `rules[${at}]`, namespaced, causes));
}

/** A rule is about resources or about URLs, and only a cluster's may be about URLs. */
function ruleCauses(rule: JsonObject, path: string, namespaced: boolean, causes: Cause[]): void {
  if (textsOf(rule, "verbs").length === 0) {
    causes.push(requiredValue(`${path}.verbs`, "verbs must contain at least one value"));
  }
  const urls = textsOf(rule, "nonResourceURLs");
  if (urls.length > 0) {
    const at = `${path}.nonResourceURLs`;
    if (namespaced) {
      causes.push(invalidText(at, goStrings(urls), "namespaced rules cannot apply to non-resource URLs"));
    }
    if (["apiGroups", "resources", "resourceNames"].some((field) => textsOf(rule, field).length > 0)) {
      const detail = "rules cannot apply to both regular resources and non-resource URLs";
      causes.push(invalidText(at, goStrings(urls), detail));
    }
    return;
  }
  if (textsOf(rule, "apiGroups").length === 0) {
    causes.push(requiredValue(`${path}.apiGroups`, "resource rules must supply at least one api group"));
  }
  if (textsOf(rule, "resources").length === 0) {
    causes.push(requiredValue(`${path}.resources`, "resource rules must supply at least one resource"));
  }
}

function bindingRules(roleKinds: readonly string[], namespaced: boolean): KindRules {
  return {
    defaults(draft, dialect) {
      const group = rbacGroup(dialect);
      const ref = draft["roleRef"];
      if (isObject(ref) && textOf(ref, "apiGroup") === "") ownChild(draft, "roleRef")["apiGroup"] = group;
      eachItem(draft, "subjects", (subject) => subjectDefaults(subject, group));
    },
    validate(binding, causes, dialect) {
      const group = rbacGroup(dialect);
      refCauses((binding["roleRef"] ?? {}) as JsonObject, roleKinds, group, causes);
      itemsOf(binding, "subjects").forEach((subject, at) =>
        subjectCauses(subject, `subjects[${at}]`, namespaced, group, causes),
      );
    },
    /** A binding that came to mean another role would keep its subjects' trust: it is made anew instead. */
    validateUpdate(binding, live, causes) {
      const after = shownRef(binding);
      if (after !== shownRef(live)) causes.push(invalidText("roleRef", after, "cannot change roleRef"));
    },
  };
}

const rbacGroup = (dialect: Dialect): string => groupInDialect(dialect, "rbac.authorization.svc.io");

function subjectDefaults(subject: Draft, group: string): void {
  const { kind, apiGroup } = subject;
  if ((apiGroup ?? "") === "" && (kind === "User" || kind === "Group")) subject["apiGroup"] = group;
}

function refCauses(ref: JsonObject, kinds: readonly string[], group: string, causes: Cause[]): void {
  const name = textOf(ref, "name");
  if (textOf(ref, "apiGroup") !== group) {
    causes.push(unsupportedValue("roleRef.apiGroup", textOf(ref, "apiGroup"), [group]));
  }
  if (!kinds.includes(textOf(ref, "kind"))) {
    causes.push(unsupportedValue("roleRef.kind", textOf(ref, "kind"), kinds));
  }
  if (name === "") causes.push(requiredValue("roleRef.name"));
  else pushInvalid("roleRef.name", name, pathSegmentErrors(name), causes);
}

const subjectKinds = ["ServiceAccount", "User", "Group"];

function subjectCauses(subject: JsonObject, path: string, namespaced: boolean, group: string, causes: Cause[]): void {
  const [kind, name, apiGroup] = [textOf(subject, "kind"), textOf(subject, "name"), textOf(subject, "apiGroup")];
  if (name === "") causes.push(requiredValue(`${path}.name`));
  if (kind === "ServiceAccount") {
    const texts = name === "" ? [] : dns1123SubdomainErrors(name);
    pushInvalid(`${path}.name`, name, texts, causes);
    if (apiGroup !== "") causes.push(unsupportedValue(`${path}.apiGroup`, apiGroup, [""]));
    if (!namespaced && textOf(subject, "namespace") === "") causes.push(requiredValue(`${path}.namespace`));
  } else if (kind === "User" || kind === "Group") {
    if (apiGroup !== group) causes.push(unsupportedValue(`${path}.apiGroup`, apiGroup, [group]));
  } else causes.push(unsupportedValue(`${path}.kind`, kind, subjectKinds));
}

function shownRef(binding: JsonObject): string {
  const ref = (binding["roleRef"] ?? {}) as JsonObject;
  const [group, kind, name] = [textOf(ref, "apiGroup"), textOf(ref, "kind"), textOf(ref, "name")].map(goQuote);
  return `rbac.RoleRef{APIGroup:${group}, Kind:${kind}, Name:${name}}`;
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
