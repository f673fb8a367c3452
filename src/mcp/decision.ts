import { z } from 'zod'
import { isolated, quoted } from '../lib/text.ts'
import { Outcome } from '../modules/policies/schema.ts'
import type { Next } from './next.ts'

const Source = z.object({ kind: z.string(), name: z.string().nullish() })

/** The fields of the API's Decision that the tools use. */
export const WireDecision = z.object({
  outcome: Outcome,
  required_approvals: z.int(),
  warnings: z
    .array(
      z.looseObject({
        code: z.string(),
        payment_id: z.string().optional(),
        created_at: z.string().optional(),
        name: z.string().nullish(),
        verification: z.string().optional(),
      }),
    )
    .default([]),
  trace: z
    .array(
      z.object({
        source: Source,
        rule: z.string(),
        outcome: z.string(),
        limit_minor: z.string().optional(),
        used_minor: z.string().optional(),
        requested_minor: z.string().optional(),
        resets_at: z.string().optional(),
      }),
    )
    .default([]),
  remedy: z
    .object({
      max_amount_minor: z.string().nullable(),
      passes_at: z.string().nullable(),
      changes: z.array(z.object({ source: Source, rule: z.string(), to_minor: z.string().optional() })),
    })
    .optional(),
})
type WireDecision = z.output<typeof WireDecision>

const Rule = z.object({
  rule: z.string(),
  of: z.string().describe('Whose rule it is.'),
  limit_minor: z.string().optional(),
  used_minor: z.string().optional(),
  requested_minor: z.string().optional(),
  resets_at: z.string().optional(),
})

/** A decision as a model needs it: what was decided, by which rules, and what would change it. */
export const ToolDecision = z.object({
  outcome: Outcome,
  required_approvals: z.int(),
  reasons: z.array(Rule).describe('The rules that decided; empty if all of them allow it.'),
  change: z
    .object({
      max_amount_minor: z
        .string()
        .nullable()
        .describe('The largest amount that would not be refused now. It may still need an approval.'),
      passes_at: z.string().nullable().describe('When the same payment passes without a change.'),
      limits: z.array(z.object({ rule: z.string(), of: z.string(), to_minor: z.string().optional() })),
    })
    .optional()
    .describe('The smallest change with which it would pass.'),
  warnings: z.array(
    z.object({
      code: z.string(),
      payment_id: z.string().optional(),
      name: z.string().optional().describe('What the rail calls the holder, or the name that it looks like.'),
      verification: z.string().optional(),
    }),
  ),
})
export type ToolDecision = z.output<typeof ToolDecision>

const nameOf = ({ kind, name }: WireDecision['trace'][number]['source']): string => (name ? `${kind} ${quoted(name)}` : kind)

export const toToolDecision = ({ outcome, required_approvals, trace, remedy, warnings }: WireDecision): ToolDecision => ({
  outcome,
  required_approvals,
  reasons: trace
    .filter((entry) => outcome !== 'allow' && entry.outcome === outcome)
    .map(({ source, rule, outcome: _outcome, ...numbers }) => ({ rule, of: nameOf(source), ...numbers })),
  ...(remedy && {
    change: {
      max_amount_minor: remedy.max_amount_minor,
      passes_at: remedy.passes_at,
      limits: remedy.changes.map(({ source, rule, to_minor }) => ({
        rule,
        of: nameOf(source),
        ...(to_minor !== undefined && { to_minor }),
      })),
    },
  }),
  warnings: warnings.map(({ code, payment_id, name, verification }) => ({
    code,
    ...(payment_id !== undefined && { payment_id }),
    ...(name && { name: isolated(name) }),
    ...(verification !== undefined && { verification }),
  })),
})

/** The agent itself may change the amount or wait; only a person may raise a limit that a person set. */
export const afterDenial = ({ change, reasons }: ToolDecision): Next => {
  if (reasons.length > 0 && reasons.every(({ rule }) => rule === 'unconfirmed_duplicate')) return 'stop'
  if (change?.max_amount_minor) return 'change_request'
  return change?.passes_at ? 'wait' : 'ask_a_person'
}
