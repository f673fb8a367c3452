import { CopyButton } from '../ui/copy.tsx'
import { Notice } from '../ui/layout.tsx'
import { QrCode } from '../ui/qr-code.tsx'
import { isHandheld, walletLinks } from './wallet-links.ts'

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
