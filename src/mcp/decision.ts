import { z } from 'zod'
import { isolated, quoted } from '../lib/text.ts'
import { Decision, Outcome, TraceEntry } from '../modules/policies/schema.ts'
import type { Caller, Next } from './tool.ts'

const numbers = {
  limit_minor: z.string().optional(),
  used_minor: z.string().optional(),
  requested_minor: z.string().optional(),
  resets_at: z.string().optional(),
}

/** What the tools use of the API's Decision. */
export const WireDecision = Decision.pick({ outcome: true, explanation: true, required_approvals: true, remedy: true }).extend({
  warnings: z
    .array(
      z.looseObject({
        code: z.string(),
        payment_id: z.string().optional(),
        name: z.string().nullish(),
        verification: z.string().optional(),
      }),
    )
    .default([]),
  trace: z.array(TraceEntry.pick({ source: true, rule: true, outcome: true }).extend(numbers)).default([]),
})
type WireDecision = z.output<typeof WireDecision>

/** A decision as a model needs it: what was decided, by which rules, and what would change it. */
export const ToolDecision = z.object({
  outcome: Outcome,
  required_approvals: z.int(),
  reasons: z
    .array(z.object({ rule: z.string(), of: z.string(), ...numbers }))
    .describe('The rules that decided, by name; empty if all of them allow it.'),
  change: z
    .object({
      max_amount_minor: z.string().nullable(),
      passes_at: z.string().nullable(),
      limits: z.array(z.object({ rule: z.string(), of: z.string(), to_minor: z.string().optional() })),
    })
    .optional()
    .describe('The smallest change with which it would not be refused: an amount, a time, or limits that a person raises.'),
  warnings: z.array(
    z.object({
      code: z.string(),
      payment_id: z.string().optional(),
      name: z.string().optional(),
      verification: z.string().optional(),
    }),
  ),
})
export type ToolDecision = z.output<typeof ToolDecision>

type Source = z.output<typeof TraceEntry>['source']

const nameOf = ({ kind, name }: Source): string => (name ? `${kind} ${quoted(name)}` : kind)

const decisive = ({ outcome, trace }: WireDecision) => trace.filter((entry) => outcome !== 'allow' && entry.outcome === outcome)

export const toToolDecision = (decision: WireDecision): ToolDecision => ({
  outcome: decision.outcome,
  required_approvals: decision.required_approvals,
  reasons: decisive(decision).map(({ source, rule, outcome: _outcome, ...entry }) => ({ rule, of: nameOf(source), ...entry })),
  ...(decision.remedy && {
    change: {
      max_amount_minor: decision.remedy.max_amount_minor,
      passes_at: decision.remedy.passes_at,
      limits: decision.remedy.changes.map(({ source, rule, to_minor }) => ({
        rule,
        of: nameOf(source),
        ...(to_minor !== undefined && { to_minor }),
      })),
    },
  }),
  warnings: decision.warnings.map(({ code, payment_id, name, verification }) => ({
    code,
    ...(payment_id !== undefined && { payment_id }),
    ...(name && { name: isolated(name) }),
    ...(verification !== undefined && { verification }),
  })),
})

const pages: Readonly<Record<string, string>> = { grant: 'agents', policy: 'policies', mandate: 'mandates' }

/** Where a person raises the limit that refused: the agent's own where there is one, because it is theirs to change. */
export const limitAddress = ({ publicUrl }: Caller, decision: WireDecision): string | undefined => {
  const sources = decisive(decision).map(({ source }) => source)
  const source = sources.find(({ kind }) => kind === 'grant') ?? sources[0]
  const page = source?.id && pages[source.kind]
  return page ? `${publicUrl}/${page}/${source.id}` : undefined
}

/** The agent itself may change the amount or wait; only a person may raise a limit that a person set. */
export const afterDenial = ({ change, reasons }: ToolDecision): Next => {
  if (reasons.length > 0 && reasons.every(({ rule }) => rule === 'unconfirmed_duplicate')) return 'stop'
  if (change?.max_amount_minor) return 'change_request'
  return change?.passes_at ? 'wait' : 'ask_a_person'
}
