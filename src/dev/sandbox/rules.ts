import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type AnyRail, allRails } from '../../lib/rail-names.ts'

/** Faults of a request, of an outcome's report, of an order with a repeated id, and of a name query. */
const effectsOn = {
  request: ['delay', 'drop', 'lose_answer', 'html', 'error_500', 'spike_arrest', 'outage'],
  report: ['lose_callback', 'duplicate', 'late', 'reorder', 'contradict', 'wrong_amount', 'wrong_id', 'forge', 'never_end'],
  repeat: ['pay_again', 'refuse_repeat_late'],
  name: ['name_late', 'name_masked', 'name_swapped', 'name_ok', 'name_other', 'name_outage'],
} as const
type Subject = keyof typeof effectsOn
export type EffectOn<On extends Subject> = (typeof effectsOn)[On][number]

export const effects: readonly EffectOn<Subject>[] = Object.values(effectsOn).flat()

export const NewRule = z.strictObject({
  effect: z.enum(effects),
  rail: z.enum(allRails).optional(),
  /** Only orders to this phone, paybill, till or account. */
  party: z.string().min(1).max(40).optional(),
  /** The number of requests. Null: until the rule is removed. */
  times: z.int().min(1).max(1_000_000).nullable().default(1),
  delay_ms: z.int().min(0).max(600_000).default(10_000),
})
type Rule = z.output<typeof NewRule> & { id: string; used: number }

/** The parts of a request that rules can match. */
export type Target = { rail: AnyRail | null; party: string | null }

/** Rules set by hand, oldest first. The first match decides, and is removed once its count is used up. */
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
    /** An outage affects every request, including those for a token. */
    isDown: (): boolean => rules.some((rule) => rule.effect === 'outage' && rule.times === null && rule.rail === undefined),
    /** Takes a rule for this subject only: a payment's fault is never spent on a name query. */
    take: <On extends Subject>(on: On, target: Target): (Rule & { effect: EffectOn<On> }) | undefined => {
      const rule = rules.find(
        (each): each is Rule & { effect: EffectOn<On> } =>
          effectsOn[on].some((effect) => effect === each.effect) &&
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
