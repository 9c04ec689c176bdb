/**
 * Checks an expression against declared types, and makes of it the tree that is evaluated and estimated: names are
 * resolved to slots, calls to overloads, macros to walks.
 * Source: the published language definition; the published checker's texts.
 */
import { isSpace, type Overload, overloadsOf } from "./functions.ts";
import { type Checked, withTypes } from "./checked.ts";
import { literalFailure } from "./literals.ts";
import { type Loop, type LoopKind, macroOf, type OptionalStep } from "./macros.ts";
import { type Expr, isInt } from "./syntax.ts";
import {
  assignable,
  Bindings,
  bool,
  bytes,
  type CelType,
  double,
  duration,
  dyn,
  formatType,
  int,
  isDyn,
  listOf,
  mapOf,
  nullType,
  optionalOf,
  resolve,
  string,
  substitute,
  timestamp,
  uint,
} from "./types.ts";
import { TypeValue, typeName, type Value } from "./values.ts";

export interface CheckFailure {
  readonly at: number;
  readonly text: string;
}

export interface CheckedExpression {
  readonly root: Checked;
  /** With everything resolved. */
  readonly type: CelType;
  readonly slotCount: number;
  /** Variables that are read. */
  readonly used: ReadonlySet<string>;
}

/** The variables get the first slots, in their order. */
export function check(
  expr: Expr,
  variables: ReadonlyMap<string, CelType>,
): CheckedExpression | { readonly failures: readonly CheckFailure[] } {
  const checker = new Checker(variables);
  const root = checker.check(expr);
  if (checker.failures.length > 0) return { failures: checker.failures };
  return {
    root: withTypes(root, (type) => substitute(type, checker.bindings, "dyn")),
    type: substitute(root.type, checker.bindings, "dyn"),
    slotCount: checker.slotCount,
    used: checker.used,
  };
}

interface Scope {
  readonly name: string;
  readonly type: CelType;
  readonly slot: number;
  readonly outer: Scope | undefined;
}

/** Types that have a name in the language. */
const typeNames: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ...[bool, bytes, double, int, string, uint].map((type) => [formatType(type), type] as const),
  ["null_type", nullType],
  ["list", listOf(dyn)],
  ["map", mapOf(dyn, dyn)],
  ["type", { is: "type", of: dyn }],
  ["optional_type", optionalOf(dyn)],
  ["google.protobuf.Timestamp", timestamp],
  ["google.protobuf.Duration", duration],
]);

class Checker {
  readonly failures: CheckFailure[] = [];
  readonly bindings = new Bindings();
  readonly used = new Set<string>();
  slotCount = 0;
  private paramCount = 0;
  private scope: Scope | undefined;

  constructor(variables: ReadonlyMap<string, CelType>) {
    for (const [name, type] of variables) this.scope = this.bound(name, type);
  }

  check(expr: Expr): Checked {
    switch (expr.is) {
      case "constant":
        return this.constant(expr.value, expr.at);
      case "name":
        return this.name(expr.name, expr.at) ?? this.fail(expr.at, undeclared(expr.name));
      case "select":
        return this.select(expr);
      case "has": {
        const of = this.check(expr.of);
        this.fieldType(of, expr.field, expr.at);
        return { is: "has", type: bool, of, field: expr.field };
      }
      case "list":
        return this.list(expr.items);
      case "map":
        return this.map(expr.entries);
      default:
        return this.call(expr);
    }
  }

  /** Says what is wrong, and goes on with a value that fits everywhere. */
  private fail(at: number, text: string): Checked {
    this.failures.push({ at, text });
    return { is: "constant", type: dyn, value: null };
  }

  private bound(name: string, type: CelType): Scope {
    return { name, type, slot: this.slotCount++, outer: this.scope };
  }

  private newParam(): CelType {
    return { is: "param", id: this.paramCount++ };
  }

  private constant(value: Value, at: number): Checked {
    if (typeof value === "bigint" && !isInt(value)) return this.fail(at, "Syntax error: invalid int literal");
    return { is: "constant", type: value === null ? nullType : (typeNames.get(typeName(value)) ?? dyn), value };
  }

  private name(name: string, _at: number): Checked | undefined {
    for (let scope = this.scope; scope !== undefined; scope = scope.outer) {
      if (scope.name !== name) continue;
      this.used.add(name);
      return { is: "name", type: scope.type, name, slot: scope.slot };
    }
    const named = typeNames.get(name);
    if (named === undefined) return undefined;
    return { is: "constant", type: { is: "type", of: named }, value: new TypeValue(name) };
  }

  private select({ of: operand, field, optional, at }: Extract<Expr, { readonly is: "select" }>): Checked {
    const qualified = optional ? undefined : pathOf(operand);
    if (qualified !== undefined) {
      const found = this.name(`${qualified}.${field}`, at);
      if (found !== undefined) return found;
    }
    const of = this.check(operand);
    const type = this.fieldType(of, field, at);
    if (optional) return { is: "select", type: type.is === "optional" ? type : optionalOf(type), of, field, optional };
    return { is: "select", type, of, field, optional };
  }

  private fieldType(of: Checked, field: string, at: number): CelType {
    const type = resolve(of.type, this.bindings);
    if (type.is === "optional") {
      const inner = this.fieldOf(resolve(type.of, this.bindings), field, at);
      return inner.is === "optional" ? inner : optionalOf(inner);
    }
    return this.fieldOf(type, field, at);
  }

  private fieldOf(type: CelType, field: string, at: number): CelType {
    if (isDyn(type) || type.is === "param") return dyn;
    if (type.is === "map") return type.value;
    if (type.is === "object") {
      const found = type.fields.get(field);
      if (found !== undefined) return found.type;
      this.fail(at, `undefined field '${field}'`);
      return dyn;
    }
    this.fail(at, `type '${this.show(type)}' does not support field selection`);
    return dyn;
  }

  /** `isMixed`: of what is only written out, elements may be of any types. */
  private list(items: readonly Expr[], isMixed = false): Checked {
    const checked = items.map((item) => this.check(item));
    if (isMixed) return { is: "list", type: listOf(dyn), items: checked };
    return { is: "list", type: listOf(this.common(checked, items)), items: checked };
  }

  private map(entries: readonly (readonly [Expr, Expr])[]): Checked {
    const checked = entries.map(([key, value]) => [this.check(key), this.check(value)] as const);
    const key = this.common(
      checked.map(([each]) => each),
      entries.map(([each]) => each),
    );
    const value = this.common(
      checked.map(([, each]) => each),
      entries.map(([, each]) => each),
    );
    return { is: "map", type: mapOf(key, value), entries: checked };
  }

  /** What all elements of a literal are: it may not mix types. */
  private common(checked: readonly Checked[], from: readonly Expr[]): CelType {
    let type = checked[0]?.type ?? this.newParam();
    checked.forEach((each, at) => {
      if (isDyn(resolve(each.type, this.bindings))) type = dyn;
      else if (!assignable(each.type, type, this.bindings)) {
        this.fail(from[at]?.at ?? 0, `expected type '${this.show(type)}' but found '${this.show(each.type)}'`);
      }
    });
    return type;
  }

  private call(expr: Extract<Expr, { readonly is: "call" }>): Checked {
    const macro = macroOf(expr);
    if (macro?.is === "misuse") return this.fail(macro.at, macro.text);
    if (macro?.is === "loop") return this.loop(macro, expr.at);
    if (macro?.is === "optional") return this.optionalStep(macro, expr.at);
    const { name, target, at } = expr;
    if (target !== undefined) {
      const space = pathOf(target);
      if (space !== undefined && isSpace(space) && this.name(space, at) === undefined) {
        return this.overloaded(`${space}.${name}`, false, expr.args, at);
      }
      return this.overloaded(name, true, [target, ...expr.args], at);
    }
    const [first, second, third] = expr.args;
    if (name === "_&&_" || name === "_||_") return this.logic(name, first as Expr, second as Expr, at);
    if (name === "_?_:_") return this.choice(first as Expr, second as Expr, third as Expr, at);
    return this.overloaded(name, false, expr.args, at);
  }

  private logic(name: "_&&_" | "_||_", first: Expr, second: Expr, at: number): Checked {
    const left = this.check(first);
    const right = this.check(second);
    if (![left, right].every(({ type }) => assignable(type, bool, this.bindings))) {
      return this.noMatch(name, false, [left, right], at);
    }
    return { is: name === "_&&_" ? "and" : "or", type: bool, left, right };
  }

  private choice(first: Expr, second: Expr, third: Expr, at: number): Checked {
    const condition = this.check(first);
    const yes = this.check(second);
    const no = this.check(third);
    const fits =
      assignable(condition.type, bool, this.bindings) &&
      (assignable(yes.type, no.type, this.bindings) || assignable(no.type, yes.type, this.bindings));
    if (!fits) return this.noMatch("_?_:_", false, [condition, yes, no], at);
    const either = [yes, no].some(({ type }) => isDyn(resolve(type, this.bindings)));
    // Null beside an object is an object that may be absent.
    const isNullBranch = resolve(yes.type, this.bindings) === nullType;
    return { is: "if", type: either ? dyn : isNullBranch ? no.type : yes.type, condition, yes, no };
  }

  private overloaded(name: string, isMember: boolean, exprs: readonly Expr[], at: number): Checked {
    const known = overloadsOf(name)?.filter((overload) => overload.isMember === isMember);
    if (known === undefined || known.length === 0) {
      if (isMember && exprs[0] !== undefined) this.check(exprs[0]);
      return this.fail(at, undeclared(name));
    }
    const isMixed = name === "format" && isMember;
    const args = exprs.map((each) => (isMixed && each.is === "list" ? this.list(each.items, true) : this.check(each)));
    const matching: Overload[] = [];
    let result: CelType | undefined;
    for (const overload of known) {
      if (overload.params.length !== args.length) continue;
      const found = this.match(overload, args, result === undefined);
      if (found === undefined) continue;
      matching.push(overload);
      if (result === undefined) result = found;
      else if (this.show(result) !== this.show(found)) result = dyn;
    }
    if (result === undefined) return this.noMatch(name, isMember, args, at);
    const literal = literalFailure(name, exprs);
    if (literal !== undefined) return this.fail(literal.at, literal.text);
    return { is: "call", type: result, name, overloads: matching, args };
  }

  /** The type that an overload gives for these arguments; what it binds is kept only when it is the first to fit. */
  private match(overload: Overload, args: readonly Checked[], keep: boolean): CelType | undefined {
    const first = this.paramCount;
    this.paramCount += overload.paramCount;
    const { bindings } = this;
    const mark = bindings.mark();
    const fits = args.every(({ type }, at) =>
      assignable(type, shifted(overload.params[at] as CelType, first), bindings),
    );
    const result = fits ? substitute(shifted(overload.result, first), bindings) : undefined;
    if (!fits || !keep) bindings.undo(mark);
    return result;
  }

  private loop(loop: Loop, at: number): Checked {
    const range = this.check(loop.range);
    const types = this.loopTypes(range, loop.names.length, loop.range.at);
    const outer = this.scope;
    const slots = loop.names.map((name, index) => {
      this.scope = this.bound(name, types[index] as CelType);
      return this.scope.slot;
    });
    const filter = loop.filter && this.check(loop.filter);
    const body = loop.kind === "filter" ? (filter as Checked) : this.check(loop.body);
    this.scope = outer;
    this.requireBool(loop, body, filter, at);
    const type = loopResult(loop.kind, types, body.type);
    return { is: "loop", type, kind: loop.kind, range, slots, body, filter };
  }

  /** The types of a walk's names: elements, keys, or both with what they lead to. */
  private loopTypes(range: Checked, count: number, at: number): readonly CelType[] {
    const type = resolve(range.type, this.bindings);
    if (type.is === "list") return count === 1 ? [type.of] : [int, type.of];
    if (type.is === "map") return count === 1 ? [type.key] : [type.key, type.value];
    if (!isDyn(type) && type.is !== "param") {
      const text = `expression of type '${this.show(type)}' cannot be range of a comprehension (must be list, map, or dynamic)`;
      this.fail(at, text);
    }
    return [dyn, dyn].slice(0, count);
  }

  private requireBool({ kind }: Loop, body: Checked, filter: Checked | undefined, at: number): void {
    const asked = kind === "all" || kind === "exists" || kind === "existsOne" ? body : filter;
    if (asked === undefined || assignable(asked.type, bool, this.bindings)) return;
    const name = kind === "all" ? "_&&_" : kind === "exists" ? "_||_" : "_?_:_";
    const accumulated = { is: "constant", type: bool, value: true } as const;
    this.noMatch(name, false, name === "_?_:_" ? [asked] : [accumulated, asked], at);
  }

  private optionalStep(step: OptionalStep, at: number): Checked {
    const of = this.check(step.of);
    const type = resolve(of.type, this.bindings);
    if (type.is !== "optional" && !isDyn(type))
      return this.noMatch(step.flat ? "optFlatMap" : "optMap", true, [of], at);
    const outer = this.scope;
    this.scope = this.bound(step.name, type.is === "optional" ? type.of : dyn);
    const { slot } = this.scope;
    const body = this.check(step.body);
    this.scope = outer;
    return { is: "optional", type: step.flat ? body.type : optionalOf(body.type), of, slot, body, flat: step.flat };
  }

  private noMatch(name: string, isMember: boolean, args: readonly Checked[], at: number): Checked {
    const [first, ...rest] = args.map(({ type }) => this.show(type));
    const shown = isMember
      ? `${first}.(${rest.join(", ")})`
      : `(${[first, ...rest].filter((each) => each !== undefined).join(", ")})`;
    return this.fail(at, `found no matching overload for '${name}' applied to '${shown}'`);
  }

  private show(type: CelType): string {
    return formatType(substitute(type, this.bindings));
  }
}

const undeclared = (name: string): string => `undeclared reference to '${name}' (in container '')`;

/** `a.b.c`, when that is all it is. */
function pathOf(expr: Expr): string | undefined {
  if (expr.is === "name") return expr.name;
  if (expr.is !== "select" || expr.optional) return undefined;
  const of = pathOf(expr.of);
  return of === undefined ? undefined : `${of}.${expr.field}`;
}

/** The same with parameters of its own. */
function shifted(type: CelType, by: number): CelType {
  switch (type.is) {
    case "param":
      return { is: "param", id: type.id + by };
    case "list":
    case "optional":
    case "type":
      return { ...type, of: shifted(type.of, by) };
    case "map":
      return { ...type, key: shifted(type.key, by), value: shifted(type.value, by) };
    default:
      return type;
  }
}

function loopResult(kind: LoopKind, names: readonly CelType[], body: CelType): CelType {
  if (kind === "map" || kind === "transformList") return listOf(body);
  if (kind === "filter") return listOf(names[0] as CelType);
  return kind === "transformMap" ? mapOf(names[0] as CelType, body) : bool;
}
