import { setImmediate as turn } from 'node:timers/promises'
import type { PresentedRefresh } from './presented-refresh.ts'

/** A request at the token endpoint. `receivedAt`: by this process's own clock (`performance.now`). `written`: when its answer has been. */
export type TokenArrival = { receivedAt: number; written: Promise<unknown> }

/**
 * The uses of one refresh token in this process: until the answers of its first use have been written, further requests with it are that use.
 * Later ones are reuse, however they overlap: they do not keep it open.
 */
type Use = { unwritten: number; isAnswered: boolean; succeeded: boolean; closedAt: number | null }

/** In the process's memory: a request may reach the lock of its grant long after it came. */
const rememberedMs = 30_000

export const createSameUse = () => {
  const uses = new Map<string, Use>()
  /** What had reached this machine when the last answer was written is read in the turns that follow; a client's next request comes later. */
  const close = async (key: string, use: Use): Promise<void> => {
    await turn()
    await turn()
    use.closedAt = performance.now()
    if (use.succeeded) setTimeout(() => uses.delete(key), rememberedMs).unref()
    else uses.delete(key)
  }
  return {
    /** Takes note of a request. `isSameUse` is asked behind the lock: whether another request of the same use has had its tokens by then. */
    begin: ({ hash }: PresentedRefresh, { receivedAt, written }: TokenArrival) => {
      const key = hash.toString('base64')
      const use = uses.get(key) ?? { unwritten: 0, isAnswered: false, succeeded: false, closedAt: null }
      uses.set(key, use)
      if (!use.isAnswered) {
        use.unwritten += 1
        void written.then(() => {
          use.isAnswered = true
          use.unwritten -= 1
          if (use.unwritten === 0) void close(key, use)
        })
      }
      let wasCurrent = false
      return {
        /** The token was its grant's current one when the request came: a rotation since then, in any process, is the same use. */
        wasCurrent: () => {
          wasCurrent = true
        },
        isSameUse: () => wasCurrent || (use.succeeded && (use.closedAt === null || receivedAt <= use.closedAt)),
        succeeded: () => {
          use.succeeded = true
        },
      }
    },
  }
}
