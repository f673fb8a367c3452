import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { type EmulatedAnswer, type Fault, sendAnswer, sendFault } from './answer.ts'
import { type Journal, maskedParty } from './journal.ts'
import type { Rules, Target } from './rules.ts'

/** `faulty: false` for requests before the real one (for its token). */
type Options = { path: string; target: Target; faulty?: boolean }

/** Answers a request, unless a fault is set or a rule matches. */
export type Respond = (
  reply: FastifyReply,
  answer: () => EmulatedAnswer,
  options: Options,
) => FastifyReply | Promise<FastifyReply>

export const createFaults = (rules: Rules, journal: Journal): { failNext: (fault: Fault) => void; respond: Respond } => {
  const ordered: Fault[] = []
  return {
    failNext: (fault) => {
      ordered.push(fault)
    },
    respond: async (reply, answer, { path, target, faulty = true }) => {
      const note = (status: number | string) =>
        journal.note('received', { path, rail: target.rail, party: maskedParty(target.party), answer: status })
      const rule = faulty ? rules.forRequest(target) : undefined
      const fault = faulty ? (ordered.shift() ?? (rule && 'fault' in rule ? rule.fault : undefined)) : undefined
      if (fault) {
        if (fault.takesEffect) answer()
        note(fault.kind === 'answer' ? fault.status : fault.kind)
        return sendFault(reply, fault)
      }
      const payload = answer()
      note(payload.lost ? 'lost' : payload.status)
      if (rule && 'delayMs' in rule) await wait(rule.delayMs)
      if (payload.delayMs) await wait(payload.delayMs)
      return sendAnswer(reply, payload)
    },
  }
}
