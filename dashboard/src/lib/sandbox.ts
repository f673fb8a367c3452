const { dataset } = document.documentElement

/** The service writes into the page what of the outside world is simulated. */
export const playsMoney = (): boolean => dataset.rails === 'sandbox'
export const playsIdentity = (): boolean => dataset.identity === 'sandbox'
