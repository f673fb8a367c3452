import type { Caller, Tool } from './tool.ts'

/** One request of the protocol, and everything that its answer depends on. */
export type Exchange = {
  body: unknown
  /** The headers that the protocol reads, as a text: two requests with the same one are read alike. */
  how: string
  /** The request as the protocol's own code takes it: without the credential, because the caller was authenticated before. */
  requestWith: (signal?: AbortSignal) => Request
  callerOf: (tool: Tool, signal: () => AbortSignal) => Caller
  /** Aborted when the client leaves, or the service ends. Made when it is asked for: a short answer ends before it is of use. */
  aborted: () => AbortSignal
}
