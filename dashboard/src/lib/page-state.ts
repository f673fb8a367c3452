import { createStore } from './store.ts'

const { dataset } = document.documentElement

/** Whether the browser sent no session. The service marks the page, which saves a request. */
export const hasNoSession = (): boolean => dataset.session === 'none'

/** A sign-in at a provider leaves its outcome in the URL. */
let signedInHere = new URLSearchParams(location.search).has('outcome')

/** Whether a person has signed in since this page was loaded. */
export const hasSignedInHere = (): boolean => signedInHere

/** Records that a person has signed in on this page: a session may exist from now on. */
export const expectSession = (): void => {
  delete dataset.session
  signedInHere = true
}

/** Whether the providers are simulated, as the service has marked on the page. */
export const isMoneySimulated = (): boolean => dataset.rails === 'sandbox'
export const isIdentitySimulated = (): boolean => dataset.identity === 'sandbox'
export const hasFees = (): boolean => dataset.fees === 'charged'

/** Whether the session has ended without a sign-out in this tab. */
export const sessionEnded = createStore(false)

let expected = false

/** Records that the next page opens without a reload, so that its content gets the focus, as after every page change. */
export const requestFocusOnNextPage = (): void => {
  expected = true
}

export const takeFocusRequest = (): boolean => {
  const taken = expected
  expected = false
  return taken
}
