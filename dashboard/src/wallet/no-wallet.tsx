import { CopyButton } from '../ui/button.tsx'
import { Notice } from '../ui/page.tsx'
import { QrCode } from '../ui/qr-code.tsx'

/** Links that open this page in a wallet's own browser, where a phone has the wallet as an app. */
const walletLinks = (page: string): readonly { name: string; href: string }[] => {
  const bare = page.replace(/^https?:\/\//, '')
  return [
    { name: 'MetaMask', href: `https://link.metamask.io/dapp/${bare}` },
    { name: 'Coinbase Wallet', href: `https://go.cb-w.com/dapp?cb_url=${encodeURIComponent(page)}` },
    { name: 'Trust Wallet', href: `https://link.trustwallet.com/open_url?coin_id=60&url=${encodeURIComponent(page)}` },
  ]
}

/** On a phone or tablet the wallet is an app. Elsewhere it is an extension, or on another device. */
const isHandheld = (): boolean => matchMedia('(pointer: coarse) and (hover: none)').matches

/** Where to find a wallet when this browser has none: its app on the same phone, or a phone beside this screen. */
export const NoWallet = () => {
  const handheld = isHandheld()
  return (
    <Notice title="No wallet in this browser">
      <div className="stack-s">
        {handheld ? (
          <>
            <p className="quiet">Open this page in your wallet app:</p>
            <ul className="stack-xs">
              {walletLinks(location.href).map(({ name, href }) => (
                <li key={name}>
                  <a className="button button-secondary button-wide" href={href} rel="noreferrer">
                    Open in {name}
                  </a>
                </li>
              ))}
            </ul>
          </>
        ) : (
          <details>
            <summary className="quiet">Use a wallet on your phone</summary>
            <div className="stack-s">
              <p className="quiet small">Scan this with your phone, then choose your wallet app there.</p>
              <QrCode text={location.href} label="This page as a QR code" />
            </div>
          </details>
        )}
        <p>
          <CopyButton value={location.href}>Copy link to this page</CopyButton>
        </p>
      </div>
    </Notice>
  )
}
