/** Commands below a command that has flags of its own, such as `capacity find` beside `capacity FILE`. */
import { or } from "@optique/core/constructs";
import type { InferValue, Parser } from "@optique/core/parser";

type AnyParser = Parser<"sync", unknown, unknown>;

/**
 * One of `commands`, or `otherwise`. Once a command was named, only its own flags count: `or` alone takes a flag that the
 * command lacks for a sign that `otherwise` was meant, and forgets the command.
 */
export function commandOrFlags<Commands extends AnyParser, Flags extends AnyParser>(
  commands: Commands,
  otherwise: Flags,
): Parser<"sync", InferValue<Commands> | InferValue<Flags>, unknown> {
  const named: AnyParser = or(commands as AnyParser);
  const any: AnyParser = or(commands as AnyParser, otherwise as AnyParser);
  const parse: AnyParser["parse"] = (context) => (isNamed(context.state) ? named : any).parse(context);
  return Object.create(any, { parse: { value: parse, enumerable: true } }) as never;
}

/** `or` keeps the place of the parser that it has settled on, and what that one has made of the line so far. */
const isNamed = (state: unknown): boolean => Array.isArray(state) && state[0] === 0;
