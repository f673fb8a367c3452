import { createStore } from '../lib/store.ts'

/** State of the step-up dialog: `answer` releases the request that waits for proof. Null: closed. */
export const stepUp = createStore<{ answer: (proven: boolean) => void } | null>(null)

/** Name of the channel from the window where the person confirms to the page that waits. Both share the session's cookie. */
const channel = 'step-up'

export const tellProven = (): void => {
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

/** Opens the dialog. While it is open, any other request, including the dialog's own, gets its error unchanged. */
const ask = (): Promise<boolean> =>
  new Promise((resolve) => {
    stepUp.set({
      answer: (proven) => {
        stepUp.set(null)
        resolve(proven)
      },
    })
  })

const isRefused = async (response: Response): Promise<boolean> => {
  if (response.status !== 403) return false
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null)
  return typeof body === 'object' && body !== null && 'error' in body && body.error === 'step_up_required'
}

/** Sends a request. If the service requires step-up, asks the person and sends the request again. */
export const withProof = async (send: () => Promise<Response>): Promise<Response> => {
  const response = await send()
  if (stepUp.get() !== null || !stepUp.isFollowed() || !(await isRefused(response))) return response
  return (await ask()) ? send() : response
}
