import { useEffect, useState } from 'preact/hooks';

/** How the provider of the API calls itself. */
export interface Brand {
  readonly name: string;
  readonly links: readonly { readonly name: string; readonly url: string }[];
  readonly has_logo: boolean;
}

const none: Brand = { name: 'API keys', links: [], has_logo: false };

/** The brand of the portal; a plain one until it is there, or if it cannot be read. */
export function useBrand(): Brand {
  const [brand, setBrand] = useState(none);
  useEffect(() => {
    void readBrand().then(setBrand);
  }, []);
  useEffect(() => {
    const icon = document.querySelector('link[rel=icon]');
    if (!brand.has_logo || icon === null) return;
    icon.removeAttribute('type');
    icon.setAttribute('href', 'logo');
  }, [brand]);
  return brand;
}

async function readBrand(): Promise<Brand> {
  try {
    const response = await fetch('api/brand');
    return response.ok ? ((await response.json()) as Brand) : none;
  } catch {
    return none;
  }
}
