import asyncio

import aiohttp

from lines import answered, failed, pieces, requests as asked, whole


async def slowly(body):
    for piece in pieces(body):
        yield piece


async def main():
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=25)) as session:
        for name, method, url, body, headers in asked():
            data = slowly(body) if body.startswith("chunked") else whole(body)
            try:
                async with session.request(method, url, headers=headers, data=data) as response:
                    answered(name, response.status, response.headers.items(), await response.read())
            except Exception as error:
                failed(name, error)


asyncio.run(main())
