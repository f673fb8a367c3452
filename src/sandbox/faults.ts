import type { FastifyReply } from 'fastify'
import { type Answer, type Fault, sendAnswer, sendFault } from './answer.ts'

/** Answers a request, unless a fault was ordered; `faulty: false` for what comes before the request is looked at (its token). */
export type Respond = (reply: FastifyReply, answer: () => Answer, options?: { faulty: boolean }) => FastifyReply

export const createFaults = (): { failNext: (fault: Fault) => void; respond: Respond } => {
  const ordered: Fault[] = []
  return {
    failNext: (fault) => {
      ordered.push(fault)
    },
    respond: (reply, answer, options = { faulty: true }) => {
      const fault = options.faulty ? ordered.shift() : undefined
      if (!fault) return sendAnswer(reply, answer())
      if (fault.takesEffect) answer()
      return sendFault(reply, fault)
    },
  }
}
