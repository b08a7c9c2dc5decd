import httpx

from lines import answered, failed, pieces, requests as asked, whole

with httpx.Client(timeout=25) as client:
    for name, method, url, body, headers in asked():
        content = pieces(body) if body.startswith("chunked") else whole(body)
        try:
            response = client.request(method, url, headers=headers, content=content)
            answered(name, response.status_code, response.headers.multi_items(), response.content)
        except Exception as error:
            failed(name, error)
