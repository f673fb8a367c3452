/** Links that open this page in a wallet's own browser, where a phone has the wallet as an app. */
export const walletLinks = (page: string): readonly { name: string; href: string }[] => {
  const bare = page.replace(/^https?:\/\//, '')
  return [
    { name: 'MetaMask', href: `https://link.metamask.io/dapp/${bare}` },
    { name: 'Coinbase Wallet', href: `https://go.cb-w.com/dapp?cb_url=${encodeURIComponent(page)}` },
    { name: 'Trust Wallet', href: `https://link.trustwallet.com/open_url?coin_id=60&url=${encodeURIComponent(page)}` },
  ]
}

/** On a phone or tablet the wallet is an app. Elsewhere it is an extension, or on another device. */
export const isHandheld = (): boolean => matchMedia('(pointer: coarse) and (hover: none)').matches
