import type { FastifyReply, FastifyRequest } from 'fastify'

type Done = (error?: Error) => void

/** A hook that waits for nothing. An async function would cost every request a promise and a turn of the microtask queue. */
export const atOnce =
  (work: (request: FastifyRequest, reply: FastifyReply) => void) =>
  (request: FastifyRequest, reply: FastifyReply, done: Done): void => {
    try {
      work(request, reply)
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)))
      return
    }
    done()
  }
