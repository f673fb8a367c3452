import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type AnyRail, allRails } from '../../lib/rail-names.ts'
import { type Fault, gatewayError } from './answer.ts'
import { type NameFault, nameFaults } from './names.ts'
import type { Reporting } from './scenario.ts'

/** What goes wrong with a request, and what goes wrong with the report of its outcome. */
const onRequest = ['delay', 'drop', 'lose_answer', 'html', 'error_500', 'spike_arrest', 'outage'] as const
const onCallback = {
  lose_callback: 'lost',
  duplicate: 'thrice',
  late: 'late',
  reorder: 'after_the_next',
  contradict: 'contradicted',
  wrong_amount: 'other_amount',
  wrong_id: 'other_id',
  forge: 'forged_first',
  never_end: 'never',
} as const satisfies Record<string, Reporting>

/** What becomes of an order whose id was there before; without a rule the gateway refuses it. */
const onRepeat = { pay_again: 'pays_again', refuse_repeat_late: 'refused_by_result' } as const
type RepeatEffect = keyof typeof onRepeat
export type RepeatAnswer = (typeof onRepeat)[RepeatEffect]

export const effects = [...onRequest, ...Object.keys(onCallback), ...Object.keys(onRepeat), ...nameFaults] as Effect[]
type RequestEffect = (typeof onRequest)[number]
type CallbackEffect = keyof typeof onCallback
type Effect = RequestEffect | CallbackEffect | RepeatEffect | NameFault

export const NewRule = z.strictObject({
  effect: z.enum(effects as [Effect, ...Effect[]]),
  rail: z.enum(allRails).optional(),
  /** Only orders to this phone, paybill, till or account. */
  party: z.string().min(1).max(40).optional(),
  /** For how many requests; null: until it is removed. */
  times: z.int().min(1).max(1_000_000).nullable().default(1),
  delay_ms: z.int().min(0).max(600_000).default(10_000),
})
export type Rule = z.output<typeof NewRule> & { id: string; used: number }

/** The parts of a request that rules can match. */
export type Target = { rail: AnyRail | null; party: string | null }

const isCallbackEffect = (effect: Rule['effect']): effect is CallbackEffect => Object.hasOwn(onCallback, effect)
const isNameFault = (effect: Rule['effect']): effect is NameFault => nameFaults.some((name) => name === effect)
const isRequestEffect = (effect: Rule['effect']): effect is RequestEffect => onRequest.some((name) => name === effect)

const faults: Readonly<Record<Exclude<RequestEffect, 'delay'>, Fault>> = {
  drop: { kind: 'hang', takesEffect: false },
  lose_answer: { kind: 'reset', takesEffect: true },
  html: { kind: 'answer', takesEffect: false, status: 502, body: '<html>Bad Gateway</html>', contentType: 'text/html' },
  error_500: { kind: 'answer', takesEffect: false, status: 500, body: gatewayError(500, '500.001.1001', 'Server Error').body },
  spike_arrest: {
    kind: 'answer',
    takesEffect: false,
    status: 429,
    body: gatewayError(429, '500.003.02', 'Error Occurred: Spike Arrest Violation').body,
  },
  outage: { kind: 'reset', takesEffect: false },
}

/** Rules that were set by hand, oldest first. The first one that matches a request decides, and is removed when its count is used up. */
export const createRules = () => {
  let rules: Rule[] = []
  const fits = (rule: Rule, target: Target): boolean =>
    (rule.rail === undefined || rule.rail === target.rail) && (rule.party === undefined || rule.party === target.party)
  const take = (target: Target, applies: (rule: Rule) => boolean): Rule | undefined => {
    const rule = rules.find((each) => applies(each) && fits(each, target))
    if (!rule) return undefined
    rule.used += 1
    if (rule.times !== null && rule.used >= rule.times) rules = rules.filter((each) => each !== rule)
    return rule
  }
  return {
    add: (rule: z.output<typeof NewRule>): Rule => {
      const added = { ...rule, id: randomUUID(), used: 0 }
      rules.push(added)
      return added
    },
    remove: (id: string): boolean => {
      const before = rules.length
      rules = rules.filter((rule) => rule.id !== id)
      return rules.length < before
    },
    clear: (): void => {
      rules = []
    },
    list: (): readonly Rule[] => rules,
    /** An outage affects every request, those for a token included. */
    isDown: (): boolean => rules.some((rule) => rule.effect === 'outage' && rule.times === null && rule.rail === undefined),
    forRequest: (target: Target): { delayMs: number } | { fault: Fault } | undefined => {
      const rule = take(target, ({ effect }) => isRequestEffect(effect))
      if (!rule) return undefined
      if (rule.effect === 'delay') return { delayMs: rule.delay_ms }
      return { fault: faults[rule.effect as Exclude<RequestEffect, 'delay'>] }
    },
    forOrder: (target: Target): Reporting | undefined => {
      const rule = take(target, ({ effect }) => isCallbackEffect(effect))
      return rule && onCallback[rule.effect as CallbackEffect]
    },
    forRepeat: (target: Target): RepeatAnswer | undefined => {
      const rule = take(target, ({ effect }) => Object.hasOwn(onRepeat, effect))
      return rule && onRepeat[rule.effect as RepeatEffect]
    },
    /** Of queries for names only: a fault of a payment is never spent on one. */
    forName: (target: Target): { effect: NameFault; delay_ms: number } | undefined => {
      const rule = take(target, ({ effect }) => isNameFault(effect))
      return rule && { effect: rule.effect as NameFault, delay_ms: rule.delay_ms }
    },
  }
}

export type Rules = ReturnType<typeof createRules>
