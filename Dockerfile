# The lab in a container:
#     docker build --tag gamesim .
#     docker run --rm --publish 127.0.0.1:8765:8765 gamesim
# It prints a link with a token; open it with localhost in place of the container's address.
FROM python:3.13-slim
RUN useradd --create-home gamesim
COPY . /source
RUN pip install --no-cache-dir "/source[lab]" && rm -r /source
USER gamesim
WORKDIR /home/gamesim
# Compile the simulator now rather than at the first start.
RUN gamesim run chicken --rounds 100 --no-figures --out first && rm -r first
EXPOSE 8765
ENTRYPOINT ["gamesim"]
CMD ["lab", "--allow-network", "--no-browser"]
