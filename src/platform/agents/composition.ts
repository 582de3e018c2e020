import { sha256 } from '../../core/digest.ts';
import { canonicalize } from '../../core/json/canonical.ts';
import type { Agent } from './agent-rows.ts';

/** The composition of an agent. Another composition is another agent. */
export interface Composition {
  model: string;
  version: string;
  allowed_tools: readonly string[];
  allowed_apis: readonly string[];
  prompt_sha256: string | null;
}

/** Hex SHA-256 over the RFC 8785 form, with names sorted and each once, and without a prompt that is not known. */
export function compositionDigest({ model, version, allowed_tools, allowed_apis, prompt_sha256 }: Composition): string {
  const prompt = prompt_sha256 === null ? {} : { prompt_sha256 };
  const of = {
    model,
    version,
    allowed_tools: sortedNames(allowed_tools),
    allowed_apis: sortedNames(allowed_apis),
    ...prompt,
  };
  return sha256(canonicalize(of));
}

/** Sorted by UTF-16 code units, as RFC 8785 sorts members, and each once. */
export function sortedNames(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}

export function compositionOf(agent: Agent): Composition {
  const { model, version, prompt_sha256 } = agent;
  return { model, version, prompt_sha256, ...allowancesOf(agent) };
}

/** The tools and APIs that an agent may use. */
export function allowancesOf({ allowed_tools, allowed_apis }: Pick<Agent, 'allowed_tools' | 'allowed_apis'>) {
  return {
    allowed_tools: JSON.parse(allowed_tools) as string[],
    allowed_apis: JSON.parse(allowed_apis) as string[],
  };
}
