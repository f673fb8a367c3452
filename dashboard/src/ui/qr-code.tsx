import { lazyPart } from './lazy.tsx'

// Few visits need a QR code, so its code loads on demand.
export const QrCode = lazyPart(
  async () => (await import('./qr-image.tsx')).QrImage,
  () => <span className="qr-code" aria-hidden="true" />,
)
