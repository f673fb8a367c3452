import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TestService } from './service.ts'

/** Marks a request as the test's own look, after which no work is done. */
export const look = { 'x-test-look': '1' } as const

/**
 * Makes the service work beside programs, as a process does, but never by time. After each answer it finishes all due work, and
 * then runs `after`, such as a person who handles waiting requests.
 */
export const workAfterAnswers = (service: TestService, after: () => Promise<void> = async () => undefined) => {
  let isDue = false
  let turn: Promise<void> | undefined
  let ended = false
  let failure: unknown
  const work = async () => {
    while (isDue && !ended) {
      isDue = false
      await service.settle()
      await after()
    }
  }
  const wake = () => {
    isDue = true
    turn ??= work()
      .catch((error: unknown) => {
        failure ??= error
      })
      .finally(() => {
        turn = undefined
        if (isDue && !ended) wake()
      })
  }
  const watch = ({ headers }: IncomingMessage, response: ServerResponse) => {
    if (headers['x-test-look'] === undefined) response.once('close', wake)
  }
  service.http.server.on('request', watch)
  return {
    /** Does the work that follows an answer, for input that came another way. */
    wake,
    stop: async () => {
      service.http.server.off('request', watch)
      ended = true
      await turn
      if (failure !== undefined) throw failure
    },
  }
}
