import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type AnyRail, allRails } from '../../lib/rail-names.ts'

/** Possible effects on a request, on the report of an outcome, on an order with a repeated id, and on a name query. */
const effectsOn = {
  request: {
    delay: 'The answer arrives after `delay_ms`.',
    drop: 'The provider never answers, and does nothing.',
    lose_answer: 'The provider acts on the request, but the connection is reset before the answer.',
    html: 'The provider answers 502 with an HTML page.',
    error_500: 'The provider answers 500.',
    spike_arrest: 'The provider answers 429: too many requests.',
    outage: 'The connection is reset. Without a rail and a number of times, requests for a token are reset too.',
  },
  report: {
    lose_callback: 'The order is carried out, but no callback arrives.',
    duplicate: 'The callback arrives three times.',
    late: 'The callback arrives after 30 seconds, for some rails after a timeout callback.',
    reorder: 'The callback arrives after the next one.',
    contradict: 'A second callback reports the opposite outcome.',
    wrong_amount: 'The callback states an amount that is one shilling higher.',
    wrong_id: 'The callback names an unknown order.',
    forge: 'A callback with a wrong secret and another receipt precedes the real one.',
    never_end: 'The order is never carried out, and no callback arrives.',
  },
  repeat: {
    pay_again: 'An order with a repeated id is carried out again.',
    refuse_repeat_late: 'An order with a repeated id is accepted, and its result is 15. B2C only.',
  },
  name: {
    name_late: 'The name arrives after `delay_ms`.',
    name_masked: 'Each word of the name shows only its first letter.',
    name_swapped: 'The words of the name are in reverse order.',
    name_ok: 'The name is OK.',
    name_other: 'The name is JANE DOE.',
    name_outage: 'The connection is reset.',
  },
} as const
type Subject = keyof typeof effectsOn
export type EffectOn<On extends Subject> = { [Each in Subject]: keyof (typeof effectsOn)[Each] }[On]

export const effectSentences: Readonly<Record<EffectOn<Subject>, string>> = Object.assign({}, ...Object.values(effectsOn))
export const effects = Object.keys(effectSentences) as EffectOn<Subject>[]

export const NewRule = z.strictObject({
  effect: z.enum(effects),
  rail: z.enum(allRails).optional(),
  /** Limits the rule to orders to this phone, paybill, till or account. */
  party: z.string().min(1).max(40).optional(),
  /** Number of requests to affect. Null: all, until the rule is removed. */
  times: z.int().min(1).max(1_000_000).nullable().default(1),
  delay_ms: z.int().min(0).max(600_000).default(10_000),
})
type Rule = z.output<typeof NewRule> & { id: string; used: number }

/** The properties of a request that rules can match. */
export type Target = { rail: AnyRail | null; party: string | null }

/** Manually added rules, oldest first. The first match applies, and is removed once its count is used up. */
export const createRules = () => {
  let rules: Rule[] = []
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
    /** An outage affects every request, including requests for a token. */
    isDown: (): boolean => rules.some((rule) => rule.effect === 'outage' && rule.times === null && rule.rail === undefined),
    /** Applies and counts the first matching rule for this subject, so a name query never uses up a payment's fault. */
    takeMatching: <On extends Subject>(on: On, target: Target): (Rule & { effect: EffectOn<On> }) | undefined => {
      const rule = rules.find(
        (each): each is Rule & { effect: EffectOn<On> } =>
          Object.hasOwn(effectsOn[on], each.effect) &&
          (each.rail === undefined || each.rail === target.rail) &&
          (each.party === undefined || each.party === target.party),
      )
      if (!rule) return undefined
      rule.used += 1
      if (rule.times !== null && rule.used >= rule.times) rules = rules.filter((each) => each !== rule)
      return rule
    },
  }
}

export type Rules = ReturnType<typeof createRules>
