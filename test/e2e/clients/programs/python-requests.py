import requests

from lines import answered, failed, pieces, requests as asked, whole

session = requests.Session()
for name, method, url, body, headers in asked():
    data = pieces(body) if body.startswith("chunked") else whole(body)
    try:
        response = session.request(method, url, headers=headers, data=data, timeout=25)
        answered(name, response.status_code, response.headers.items(), response.content)
    except Exception as error:
        failed(name, error)
