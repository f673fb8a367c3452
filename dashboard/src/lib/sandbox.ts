const { dataset } = document.documentElement

/** The service writes into the page which providers are simulated. */
export const isMoneySimulated = (): boolean => dataset.rails === 'sandbox'
export const isIdentitySimulated = (): boolean => dataset.identity === 'sandbox'
