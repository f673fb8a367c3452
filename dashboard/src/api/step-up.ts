import { createStore } from '../lib/store.ts'

/** State of the step-up dialog: `answer` releases the requests that wait for proof. Null: closed. */
export const stepUp = createStore<{ answer: (proven: boolean) => void } | null>(null)

/** Name of the channel from the window where the person confirms to the page that waits. Both share the session's cookie. */
const channel = 'step-up'

export const announceProof = (): void => {
  const windows = new BroadcastChannel(channel)
  windows.postMessage('proven')
  windows.close()
}

/** Returns a function that stops listening. */
export const onProven = (listener: () => void): (() => void) => {
  const windows = new BroadcastChannel(channel)
  windows.onmessage = listener
  return () => windows.close()
}

let asking: Promise<boolean> | null = null

/** Opens the dialog, unless it is open for another request. Requests that are refused at the same time get the same answer. */
const ask = (): Promise<boolean> => {
  asking ??= new Promise<boolean>((answer) => stepUp.set({ answer })).finally(() => {
    asking = null
    stepUp.set(null)
  })
  return asking
}

const requiresStepUp = async (response: Response): Promise<boolean> => {
  if (response.status !== 403) return false
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null)
  return typeof body === 'object' && body !== null && 'error' in body && body.error === 'step_up_required'
}

/**
 * Sends a request. If the service requires step-up, asks the person and sends the request again. A request that is sent while the
 * dialog is open may be the dialog's own, so it gets its error unchanged.
 */
export const withProof = async (send: () => Promise<Response>): Promise<Response> => {
  const isDialogOpen = stepUp.get() !== null
  const response = await send()
  if (isDialogOpen || !stepUp.isFollowed() || !(await requiresStepUp(response))) return response
  return (await ask()) ? send() : response
}
