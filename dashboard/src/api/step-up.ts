import { createStore } from '../lib/store.ts'

/** State of the step-up dialog: `answer` releases the requests that wait for proof. */
export const stepUp = createStore<{ answer: (proven: boolean) => void } | null>(null)

/** Connects the page that asks with the window of the answer: both share a cookie. */
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

/** Asks the person once, however many requests wait. The requests of the proof itself never ask. */
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

/** Sends a request. If the service asks for step-up, asks the person and sends the request again. */
export const withProof = async (send: () => Promise<Response>): Promise<Response> => {
  const response = await send()
  if (stepUp.get() !== null || !stepUp.isFollowed() || !(await isRefused(response))) return response
  return (await ask()) ? send() : response
}
