const { dataset } = document.documentElement

/** The service writes into the page which providers are simulated. */
export const playsMoney = (): boolean => dataset.rails === 'sandbox'
export const playsIdentity = (): boolean => dataset.identity === 'sandbox'
