import { createStore } from './store.ts'

const { dataset } = document.documentElement

/** The service writes into the page that the browser sent no session, so no request is needed to find that out. */
export const hasNoSession = (): boolean => dataset.session === 'none'

/** A sign-in at a provider ends with its outcome in the address. */
let signedInHere = new URLSearchParams(location.search).has('outcome')

/** Whether a person has signed in since this page was loaded. */
export const hasSignedInHere = (): boolean => signedInHere

/** From now on there may be a session. */
export const expectSession = (): void => {
  delete dataset.session
  signedInHere = true
}

/** The service writes into the page which providers are simulated. */
export const isMoneySimulated = (): boolean => dataset.rails === 'sandbox'
export const isIdentitySimulated = (): boolean => dataset.identity === 'sandbox'
export const hasFees = (): boolean => dataset.fees === 'charged'

/** The session has ended without a sign-out in this tab. */
export const sessionEnded = createStore(false)

let expected = false

/** The next page is opened from here, not loaded: its content gets the focus, as after every change of page. */
export const expectArrival = (): void => {
  expected = true
}

export const takeArrival = (): boolean => {
  const taken = expected
  expected = false
  return taken
}
