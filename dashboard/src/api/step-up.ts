import { createStore } from '../lib/store.ts'

/** For the dialog that asks: how a request that waits for the person's proof is answered. */
export const stepUp = createStore<{ answer: (proven: boolean) => void } | null>(null)

/** Between the page that asks and the window in which the person answers: the cookie of both is the same. */
const channel = 'step-up'

export const tellProven = (): void => {
  const windows = new BroadcastChannel(channel)
  windows.postMessage('proven')
  windows.close()
}

/** Returns how to stop listening. */
export const onProven = (listener: () => void): (() => void) => {
  const windows = new BroadcastChannel(channel)
  windows.onmessage = listener
  return () => windows.close()
}

/** Asks the person once, however many requests wait. What is sent to give the proof is not asked for one itself. */
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

/** Sends a request; where the service wants to know again who the person is, asks them and sends it once more. */
export const withProof = async (send: () => Promise<Response>): Promise<Response> => {
  const response = await send()
  if (stepUp.get() !== null || !stepUp.isFollowed() || !(await isRefused(response))) return response
  return (await ask()) ? send() : response
}
